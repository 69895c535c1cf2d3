// A comparison of positions is one of 32 bits with a constant for each element: what the
// elements of a row share is on the other side, computed once for each of the two rows of
// a thread.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

gpu.module @kernels {
  // first + row < origin + column, as a mask has it: 64 bits for the positions, clamped
  // to what no coordinate reaches.
  // CHECK: llvm.func @positions
  // CHECK-DAG: %[[LOW:.*]] = arith.constant -1073741824 : index
  // CHECK-DAG: %[[HIGH:.*]] = arith.constant 1073741824 : index
  // CHECK-DAG: %[[M1:.*]] = arith.constant -1 : i32
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
  // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
  // CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c2 : index
  // CHECK: %[[FIRST:.*]] = builtin.unrealized_conversion_cast %arg1 : i64 to index
  // CHECK: %[[ORIGIN:.*]] = builtin.unrealized_conversion_cast %arg2 : i64 to index
  // CHECK: %[[QUERY:.*]] = arith.addi %[[FIRST]], %[[ROW]] : index
  // CHECK: %[[DIFFERENCE:.*]] = arith.subi %[[ORIGIN]], %[[QUERY]] : index
  // CHECK: %[[FROM:.*]] = arith.maxsi %[[DIFFERENCE]], %[[LOW]]
  // CHECK: %[[TO:.*]] = arith.minsi %[[FROM]], %[[HIGH]]
  // CHECK: %[[SHARED:.*]] = arith.index_cast %[[TO]] : index to i32
  // CHECK: %[[C:.*]] = arith.index_cast %[[COLUMN]] : index to i32
  // CHECK: %[[MINUS_C:.*]] = arith.muli %[[C]], %[[M1]] : i32
  // CHECK: %[[LIMIT:.*]] = arith.subi %[[SHARED]], %[[MINUS_C]] : i32
  // The row 8 below.
  // CHECK: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8
  // CHECK: %[[QUERY8:.*]] = arith.addi %[[FIRST]], %[[ROW8]] : index
  // CHECK: arith.subi %[[ORIGIN]], %[[QUERY8]] : index
  // CHECK: %[[LIMIT8:.*]] = arith.subi %{{.*}}, %[[MINUS_C]] : i32
  // Two columns of either row. The constant's place is the right one in canonical form.
  // CHECK-NEXT: %[[E0:.*]] = arith.cmpi sgt, %[[LIMIT]], %[[C0]] : i32
  // CHECK-NEXT: arith.select %[[E0]]
  // CHECK-NEXT: %[[E1:.*]] = arith.cmpi sgt, %[[LIMIT]], %[[M1]] : i32
  // CHECK-NEXT: arith.select %[[E1]]
  // CHECK-NEXT: %[[E2:.*]] = arith.cmpi sgt, %[[LIMIT8]], %[[C0]] : i32
  // CHECK-NEXT: arith.select %[[E2]]
  // CHECK-NEXT: %[[E3:.*]] = arith.cmpi sgt, %[[LIMIT8]], %[[M1]] : i32
  // CHECK-NEXT: arith.select %[[E3]]
  // CHECK-NOT: arith.cmpi {{s..}}, {{.*}} : index
  // CHECK: llvm.return
  llvm.func @positions(%p: !llvm.ptr, %f: i64, %o: i64, %x: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %first = builtin.unrealized_conversion_cast %f : i64 to index
    %origin = builtin.unrealized_conversion_cast %o : i64 to index
    %y = arith.constant 1.0 : f32
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x8xf32>
    %c64 = arith.constant 64 : index
    %s = wg.splat %x : f32 -> !wg.fragment<64x8xf32, accumulator>
    %k = wg.map %s : !wg.fragment<64x8xf32, accumulator> -> !wg.fragment<64x8xf32, accumulator> {
    ^bb0(%a: f32, %row: index, %column: index):
      %i = arith.addi %first, %row : index
      %j = arith.addi %origin, %column : index
      %c = arith.cmpi slt, %i, %j : index
      %d = arith.select %c, %a, %y : f32
      wg.yield %d : f32
    }
    wg.store %k, %m count %c64 : !wg.fragment<64x8xf32, accumulator>, memref<64x8xf32>
    llvm.return
  }

  // Twice the column, less the row: still linear. Products and quotients are not, and
  // stay as they are; so do unsigned comparisons, and those of other types.
  // CHECK: llvm.func @others
  // CHECK: arith.subi %{{.*}}, %{{.*}} : i32
  // CHECK: arith.cmpi {{s[lg][te]}}, %{{.*}} : i32
  // CHECK: arith.divsi %{{.*}} : index
  // CHECK: arith.cmpi eq, %{{.*}} : index
  // CHECK: arith.cmpi ult, %{{.*}} : index
  // CHECK: arith.cmpi slt, %{{.*}} : i64
  // CHECK: llvm.return
  llvm.func @others(%p: !llvm.ptr, %f: i64, %x: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %first = builtin.unrealized_conversion_cast %f : i64 to index
    %y = arith.constant 1.0 : f32
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x8xf32>
    %s = wg.splat %x : f32 -> !wg.fragment<64x8xf32, accumulator>
    %k = wg.map %s : !wg.fragment<64x8xf32, accumulator> -> !wg.fragment<64x8xf32, accumulator> {
    ^bb0(%a: f32, %row: index, %column: index):
      %twice = arith.addi %column, %column : index
      %less = arith.subi %twice, %row : index
      %linear = arith.cmpi slt, %less, %first : index
      %third = arith.divsi %column, %c3 : index
      %quotient = arith.cmpi eq, %third, %first : index
      %unsigned = arith.cmpi ult, %column, %first : index
      %wide = arith.index_cast %column : index to i64
      %type = arith.cmpi slt, %wide, %f : i64
      %0 = arith.andi %linear, %quotient : i1
      %1 = arith.andi %unsigned, %type : i1
      %c = arith.andi %0, %1 : i1
      %d = arith.select %c, %a, %y : f32
      wg.yield %d : f32
    }
    wg.store %k, %m count %c64 : !wg.fragment<64x8xf32, accumulator>, memref<64x8xf32>
    llvm.return
  }
}
