// The columns that a mask keeps of a row are one range, however many comparisons there are:
// its limits, of 32 bits, are computed once for each of the two rows of a thread, and each
// element compares them with a constant.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

gpu.module @kernels {
  // first + row < origin + column, as a mask has it: a lower limit. 64 bits for the
  // positions, clamped to what no coordinate reaches.
  // CHECK-LABEL: llvm.func @positions
  // CHECK-DAG: %[[LOW:.*]] = arith.constant -1073741824 : index
  // CHECK-DAG: %[[HIGH:.*]] = arith.constant 1073741824 : index
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
  // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
  // CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c2 : index
  // CHECK: %[[FIRST:.*]] = builtin.unrealized_conversion_cast %arg1 : i64 to index
  // CHECK: %[[ORIGIN:.*]] = builtin.unrealized_conversion_cast %arg2 : i64 to index
  // CHECK: %[[QUERY:.*]] = arith.addi %[[FIRST]], %[[ROW]] : index
  // CHECK-NEXT: %[[DIFFERENCE:.*]] = arith.subi %[[ORIGIN]], %[[QUERY]] : index
  // CHECK-NEXT: %[[FROM:.*]] = arith.maxsi %[[DIFFERENCE]], %[[LOW]]
  // CHECK-NEXT: %[[TO:.*]] = arith.minsi %[[FROM]], %[[HIGH]]
  // CHECK-NEXT: %[[SHARED:.*]] = arith.index_cast %[[TO]] : index to i32
  // -column <= shared - 1; then without the thread's own column.
  // CHECK-NEXT: %[[LOWER:.*]] = arith.subi %[[C1]], %[[SHARED]] : i32
  // CHECK-NEXT: %[[C:.*]] = arith.index_cast %[[COLUMN]] : index to i32
  // CHECK-NEXT: %[[LIMIT:.*]] = arith.subi %[[LOWER]], %[[C]] : i32
  // The row 8 below.
  // CHECK: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8
  // CHECK: %[[QUERY8:.*]] = arith.addi %[[FIRST]], %[[ROW8]] : index
  // CHECK: arith.subi %[[ORIGIN]], %[[QUERY8]] : index
  // CHECK: %[[SHARED8:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK-NEXT: %[[LOWER8:.*]] = arith.subi %[[C1]], %[[SHARED8]] : i32
  // CHECK-NEXT: %[[LIMIT8:.*]] = arith.subi %[[LOWER8]], %[[C]] : i32
  // Two columns of either row. The constant's place is the right one in canonical form.
  // CHECK-NEXT: %[[E0:.*]] = arith.cmpi sle, %[[LIMIT]], %[[C0]] : i32
  // CHECK-NEXT: arith.select %[[E0]]
  // CHECK-NEXT: %[[E1:.*]] = arith.cmpi sle, %[[LIMIT]], %[[C1]] : i32
  // CHECK-NEXT: arith.select %[[E1]]
  // CHECK-NEXT: %[[E2:.*]] = arith.cmpi sle, %[[LIMIT8]], %[[C0]] : i32
  // CHECK-NEXT: arith.select %[[E2]]
  // CHECK-NEXT: %[[E3:.*]] = arith.cmpi sle, %[[LIMIT8]], %[[C1]] : i32
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

  // column <= first + row and column < origin: the smaller limit, and one comparison.
  // CHECK-LABEL: llvm.func @upper
  // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
  // CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c2 : index
  // CHECK: %[[FIRST:.*]] = builtin.unrealized_conversion_cast %arg1 : i64 to index
  // CHECK: %[[ORIGIN:.*]] = builtin.unrealized_conversion_cast %arg2 : i64 to index
  // CHECK: %[[SUM:.*]] = arith.addi %[[FIRST]], %[[ROW]] : index
  // CHECK-NEXT: %[[A_LOW:.*]] = arith.maxsi %[[SUM]], %c-1073741824 : index
  // CHECK-NEXT: %[[A_HIGH:.*]] = arith.minsi %[[A_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[A:.*]] = arith.index_cast %[[A_HIGH]] : index to i32
  // CHECK-NEXT: %[[B_LOW:.*]] = arith.maxsi %[[ORIGIN]], %c-1073741824 : index
  // CHECK-NEXT: %[[B_HIGH:.*]] = arith.minsi %[[B_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[B:.*]] = arith.index_cast %[[B_HIGH]] : index to i32
  // CHECK-NEXT: %[[B_LAST:.*]] = arith.addi %[[B]], %c-1_i32 : i32
  // CHECK-NEXT: %[[UPPER:.*]] = arith.minsi %[[A]], %[[B_LAST]] : i32
  // CHECK-NEXT: %[[C:.*]] = arith.index_cast %[[COLUMN]] : index to i32
  // CHECK-NEXT: %[[LIMIT:.*]] = arith.subi %[[UPPER]], %[[C]] : i32
  // CHECK-NEXT: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8 : index
  // CHECK-NEXT: %[[SUM8:.*]] = arith.addi %[[FIRST]], %[[ROW8]] : index
  // CHECK-NEXT: %[[A8_LOW:.*]] = arith.maxsi %[[SUM8]], %c-1073741824 : index
  // CHECK-NEXT: %[[A8_HIGH:.*]] = arith.minsi %[[A8_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[A8:.*]] = arith.index_cast %[[A8_HIGH]] : index to i32
  // CHECK-NEXT: %[[UPPER8:.*]] = arith.minsi %[[A8]], %[[B_LAST]] : i32
  // CHECK-NEXT: %[[LIMIT8:.*]] = arith.subi %[[UPPER8]], %[[C]] : i32
  // CHECK-NEXT: %[[E0:.*]] = arith.cmpi sge, %[[LIMIT]], %c0_i32 : i32
  // CHECK-NEXT: arith.select %[[E0]]
  // CHECK-NEXT: %[[E1:.*]] = arith.cmpi sge, %[[LIMIT]], %c1_i32 : i32
  // CHECK-NEXT: arith.select %[[E1]]
  // CHECK-NEXT: %[[E2:.*]] = arith.cmpi sge, %[[LIMIT8]], %c0_i32 : i32
  // CHECK-NEXT: arith.select %[[E2]]
  // CHECK-NEXT: %[[E3:.*]] = arith.cmpi sge, %[[LIMIT8]], %c1_i32 : i32
  // CHECK-NEXT: arith.select %[[E3]]
  // CHECK-NOT: arith.cmpi s
  // CHECK: llvm.return
  llvm.func @upper(%p: !llvm.ptr, %f: i64, %o: i64, %x: f32)
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
      %0 = arith.cmpi sle, %column, %i : index
      %1 = arith.cmpi slt, %column, %origin : index
      %c = arith.andi %0, %1 : i1
      %d = arith.select %c, %a, %y : f32
      wg.yield %d : f32
    }
    wg.store %k, %m count %c64 : !wg.fragment<64x8xf32, accumulator>, memref<64x8xf32>
    llvm.return
  }

  // column > row - first, column <= row and column >= origin: the larger lower limit, and
  // the upper one. Two comparisons for each element.
  // CHECK-LABEL: llvm.func @both
  // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
  // CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c2 : index
  // CHECK: %[[FIRST:.*]] = builtin.unrealized_conversion_cast %arg1 : i64 to index
  // CHECK: %[[ORIGIN:.*]] = builtin.unrealized_conversion_cast %arg2 : i64 to index
  // CHECK: %[[AFTER:.*]] = arith.subi %[[ROW]], %[[FIRST]] : index
  // CHECK-NEXT: %[[A_LOW:.*]] = arith.maxsi %[[AFTER]], %c-1073741824 : index
  // CHECK-NEXT: %[[A_HIGH:.*]] = arith.minsi %[[A_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[A:.*]] = arith.index_cast %[[A_HIGH]] : index to i32
  // CHECK-NEXT: %[[A_FIRST:.*]] = arith.addi %[[A]], %c1_i32 : i32
  // CHECK-NEXT: %[[B_LOW:.*]] = arith.maxsi %[[ROW]], %c-1073741824 : index
  // CHECK-NEXT: %[[B_HIGH:.*]] = arith.minsi %[[B_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[B:.*]] = arith.index_cast %[[B_HIGH]] : index to i32
  // CHECK-NEXT: %[[O_LOW:.*]] = arith.maxsi %[[ORIGIN]], %c-1073741824 : index
  // CHECK-NEXT: %[[O_HIGH:.*]] = arith.minsi %[[O_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[O:.*]] = arith.index_cast %[[O_HIGH]] : index to i32
  // CHECK-NEXT: %[[LARGER:.*]] = arith.maxsi %[[A_FIRST]], %[[O]] : i32
  // CHECK-NEXT: %[[C:.*]] = arith.index_cast %[[COLUMN]] : index to i32
  // CHECK-NEXT: %[[LOWER:.*]] = arith.subi %[[LARGER]], %[[C]] : i32
  // CHECK-NEXT: %[[UPPER:.*]] = arith.subi %[[B]], %[[C]] : i32
  // CHECK-NEXT: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8 : index
  // CHECK-NEXT: %[[AFTER8:.*]] = arith.subi %[[ROW8]], %[[FIRST]] : index
  // CHECK-NEXT: %[[A8_LOW:.*]] = arith.maxsi %[[AFTER8]], %c-1073741824 : index
  // CHECK-NEXT: %[[A8_HIGH:.*]] = arith.minsi %[[A8_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[A8:.*]] = arith.index_cast %[[A8_HIGH]] : index to i32
  // CHECK-NEXT: %[[A8_FIRST:.*]] = arith.addi %[[A8]], %c1_i32 : i32
  // CHECK-NEXT: %[[B8_LOW:.*]] = arith.maxsi %[[ROW8]], %c-1073741824 : index
  // CHECK-NEXT: %[[B8_HIGH:.*]] = arith.minsi %[[B8_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[B8:.*]] = arith.index_cast %[[B8_HIGH]] : index to i32
  // CHECK-NEXT: %[[LARGER8:.*]] = arith.maxsi %[[A8_FIRST]], %[[O]] : i32
  // CHECK-NEXT: %[[LOWER8:.*]] = arith.subi %[[LARGER8]], %[[C]] : i32
  // CHECK-NEXT: %[[UPPER8:.*]] = arith.subi %[[B8]], %[[C]] : i32
  // CHECK-NEXT: %[[L0:.*]] = arith.cmpi sle, %[[LOWER]], %c0_i32 : i32
  // CHECK-NEXT: %[[U0:.*]] = arith.cmpi sge, %[[UPPER]], %c0_i32 : i32
  // CHECK-NEXT: %[[E0:.*]] = arith.andi %[[L0]], %[[U0]] : i1
  // CHECK-NEXT: arith.select %[[E0]]
  // CHECK-NEXT: %[[L1:.*]] = arith.cmpi sle, %[[LOWER]], %c1_i32 : i32
  // CHECK-NEXT: %[[U1:.*]] = arith.cmpi sge, %[[UPPER]], %c1_i32 : i32
  // CHECK-NEXT: %[[E1:.*]] = arith.andi %[[L1]], %[[U1]] : i1
  // CHECK-NEXT: arith.select %[[E1]]
  // CHECK-NEXT: %[[L2:.*]] = arith.cmpi sle, %[[LOWER8]], %c0_i32 : i32
  // CHECK-NEXT: %[[U2:.*]] = arith.cmpi sge, %[[UPPER8]], %c0_i32 : i32
  // CHECK-NEXT: %[[E2:.*]] = arith.andi %[[L2]], %[[U2]] : i1
  // CHECK-NEXT: arith.select %[[E2]]
  // CHECK-NEXT: %[[L3:.*]] = arith.cmpi sle, %[[LOWER8]], %c1_i32 : i32
  // CHECK-NEXT: %[[U3:.*]] = arith.cmpi sge, %[[UPPER8]], %c1_i32 : i32
  // CHECK-NEXT: %[[E3:.*]] = arith.andi %[[L3]], %[[U3]] : i1
  // CHECK-NEXT: arith.select %[[E3]]
  // CHECK-NOT: arith.cmpi s
  // CHECK: llvm.return
  llvm.func @both(%p: !llvm.ptr, %f: i64, %o: i64, %x: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %first = builtin.unrealized_conversion_cast %f : i64 to index
    %origin = builtin.unrealized_conversion_cast %o : i64 to index
    %y = arith.constant 1.0 : f32
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x8xf32>
    %c64 = arith.constant 64 : index
    %s = wg.splat %x : f32 -> !wg.fragment<64x8xf32, accumulator>
    %k = wg.map %s : !wg.fragment<64x8xf32, accumulator> -> !wg.fragment<64x8xf32, accumulator> {
    ^bb0(%a: f32, %row: index, %column: index):
      %i = arith.subi %row, %first : index
      %0 = arith.cmpi sgt, %column, %i : index
      %1 = arith.cmpi sle, %column, %row : index
      %2 = arith.cmpi sge, %column, %origin : index
      %3 = arith.andi %0, %1 : i1
      %c = arith.andi %3, %2 : i1
      %d = arith.select %c, %a, %y : f32
      wg.yield %d : f32
    }
    wg.store %k, %m count %c64 : !wg.fragment<64x8xf32, accumulator>, memref<64x8xf32>
    llvm.return
  }

  // row < first and row >= origin do not depend on the column: an upper limit that all
  // columns are below, or none. With column <= row it is one comparison.
  // CHECK-LABEL: llvm.func @rows
  // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
  // CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c2 : index
  // CHECK: %[[FIRST:.*]] = builtin.unrealized_conversion_cast %arg1 : i64 to index
  // CHECK: %[[ORIGIN:.*]] = builtin.unrealized_conversion_cast %arg2 : i64 to index
  // CHECK: %[[REST:.*]] = arith.subi %[[FIRST]], %[[ROW]] : index
  // CHECK-NEXT: %[[A_LOW:.*]] = arith.maxsi %[[REST]], %c-1073741824 : index
  // CHECK-NEXT: %[[A_HIGH:.*]] = arith.minsi %[[A_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[A:.*]] = arith.index_cast %[[A_HIGH]] : index to i32
  // CHECK-NEXT: %[[A_LAST:.*]] = arith.addi %[[A]], %c-1_i32 : i32
  // CHECK-NEXT: %[[BELOW:.*]] = arith.cmpi sge, %[[A_LAST]], %c0_i32 : i32
  // CHECK-NEXT: %[[ALL_A:.*]] = arith.select %[[BELOW]], %c1073741824_i32, %c-1073741824_i32 : i32
  // CHECK-NEXT: %[[UNTIL:.*]] = arith.subi %[[ORIGIN]], %[[ROW]] : index
  // CHECK-NEXT: %[[B_LOW:.*]] = arith.maxsi %[[UNTIL]], %c-1073741824 : index
  // CHECK-NEXT: %[[B_HIGH:.*]] = arith.minsi %[[B_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[B:.*]] = arith.index_cast %[[B_HIGH]] : index to i32
  // CHECK-NEXT: %[[ABOVE:.*]] = arith.cmpi sle, %[[B]], %c0_i32 : i32
  // CHECK-NEXT: %[[ALL_B:.*]] = arith.select %[[ABOVE]], %c1073741824_i32, %c-1073741824_i32 : i32
  // CHECK-NEXT: %[[ALL:.*]] = arith.minsi %[[ALL_A]], %[[ALL_B]] : i32
  // CHECK-NEXT: %[[R_LOW:.*]] = arith.maxsi %[[ROW]], %c-1073741824 : index
  // CHECK-NEXT: %[[R_HIGH:.*]] = arith.minsi %[[R_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[R:.*]] = arith.index_cast %[[R_HIGH]] : index to i32
  // CHECK-NEXT: %[[UPPER:.*]] = arith.minsi %[[ALL]], %[[R]] : i32
  // CHECK-NEXT: %[[C:.*]] = arith.index_cast %[[COLUMN]] : index to i32
  // CHECK-NEXT: %[[LIMIT:.*]] = arith.subi %[[UPPER]], %[[C]] : i32
  // CHECK-NEXT: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8 : index
  // CHECK-NEXT: %[[REST8:.*]] = arith.subi %[[FIRST]], %[[ROW8]] : index
  // CHECK-NEXT: %[[A8_LOW:.*]] = arith.maxsi %[[REST8]], %c-1073741824 : index
  // CHECK-NEXT: %[[A8_HIGH:.*]] = arith.minsi %[[A8_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[A8:.*]] = arith.index_cast %[[A8_HIGH]] : index to i32
  // CHECK-NEXT: %[[A_LAST8:.*]] = arith.addi %[[A8]], %c-1_i32 : i32
  // CHECK-NEXT: %[[BELOW8:.*]] = arith.cmpi sge, %[[A_LAST8]], %c0_i32 : i32
  // CHECK-NEXT: %[[ALL_A8:.*]] = arith.select %[[BELOW8]], %c1073741824_i32, %c-1073741824_i32 : i32
  // CHECK-NEXT: %[[UNTIL8:.*]] = arith.subi %[[ORIGIN]], %[[ROW8]] : index
  // CHECK-NEXT: %[[B8_LOW:.*]] = arith.maxsi %[[UNTIL8]], %c-1073741824 : index
  // CHECK-NEXT: %[[B8_HIGH:.*]] = arith.minsi %[[B8_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[B8:.*]] = arith.index_cast %[[B8_HIGH]] : index to i32
  // CHECK-NEXT: %[[ABOVE8:.*]] = arith.cmpi sle, %[[B8]], %c0_i32 : i32
  // CHECK-NEXT: %[[ALL_B8:.*]] = arith.select %[[ABOVE8]], %c1073741824_i32, %c-1073741824_i32 : i32
  // CHECK-NEXT: %[[ALL8:.*]] = arith.minsi %[[ALL_A8]], %[[ALL_B8]] : i32
  // CHECK-NEXT: %[[R8_LOW:.*]] = arith.maxsi %[[ROW8]], %c-1073741824 : index
  // CHECK-NEXT: %[[R8_HIGH:.*]] = arith.minsi %[[R8_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[R8:.*]] = arith.index_cast %[[R8_HIGH]] : index to i32
  // CHECK-NEXT: %[[UPPER8:.*]] = arith.minsi %[[ALL8]], %[[R8]] : i32
  // CHECK-NEXT: %[[LIMIT8:.*]] = arith.subi %[[UPPER8]], %[[C]] : i32
  // CHECK-NEXT: %[[E0:.*]] = arith.cmpi sge, %[[LIMIT]], %c0_i32 : i32
  // CHECK-NEXT: arith.select %[[E0]]
  // CHECK-NEXT: %[[E1:.*]] = arith.cmpi sge, %[[LIMIT]], %c1_i32 : i32
  // CHECK-NEXT: arith.select %[[E1]]
  // CHECK-NEXT: %[[E2:.*]] = arith.cmpi sge, %[[LIMIT8]], %c0_i32 : i32
  // CHECK-NEXT: arith.select %[[E2]]
  // CHECK-NEXT: %[[E3:.*]] = arith.cmpi sge, %[[LIMIT8]], %c1_i32 : i32
  // CHECK-NEXT: arith.select %[[E3]]
  // CHECK-NOT: arith.cmpi s
  // CHECK: llvm.return
  llvm.func @rows(%p: !llvm.ptr, %f: i64, %o: i64, %x: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %first = builtin.unrealized_conversion_cast %f : i64 to index
    %origin = builtin.unrealized_conversion_cast %o : i64 to index
    %y = arith.constant 1.0 : f32
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x8xf32>
    %c64 = arith.constant 64 : index
    %s = wg.splat %x : f32 -> !wg.fragment<64x8xf32, accumulator>
    %k = wg.map %s : !wg.fragment<64x8xf32, accumulator> -> !wg.fragment<64x8xf32, accumulator> {
    ^bb0(%a: f32, %row: index, %column: index):
      %0 = arith.cmpi slt, %row, %first : index
      %1 = arith.cmpi sge, %row, %origin : index
      %2 = arith.andi %0, %1 : i1
      %3 = arith.cmpi sle, %column, %row : index
      %c = arith.andi %2, %3 : i1
      %d = arith.select %c, %a, %y : f32
      wg.yield %d : f32
    }
    wg.store %k, %m count %c64 : !wg.fragment<64x8xf32, accumulator>, memref<64x8xf32>
    llvm.return
  }

  // column == first + row: both limits are the same.
  // CHECK-LABEL: llvm.func @equal
  // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
  // CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c2 : index
  // CHECK: %[[FIRST:.*]] = builtin.unrealized_conversion_cast %arg1 : i64 to index
  // CHECK: %[[SUM:.*]] = arith.addi %[[FIRST]], %[[ROW]] : index
  // CHECK-NEXT: %[[A_LOW:.*]] = arith.maxsi %[[SUM]], %c-1073741824 : index
  // CHECK-NEXT: %[[A_HIGH:.*]] = arith.minsi %[[A_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[A:.*]] = arith.index_cast %[[A_HIGH]] : index to i32
  // CHECK-NEXT: %[[C:.*]] = arith.index_cast %[[COLUMN]] : index to i32
  // CHECK-NEXT: %[[LIMIT:.*]] = arith.subi %[[A]], %[[C]] : i32
  // CHECK-NEXT: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8 : index
  // CHECK-NEXT: %[[SUM8:.*]] = arith.addi %[[FIRST]], %[[ROW8]] : index
  // CHECK-NEXT: %[[A8_LOW:.*]] = arith.maxsi %[[SUM8]], %c-1073741824 : index
  // CHECK-NEXT: %[[A8_HIGH:.*]] = arith.minsi %[[A8_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[A8:.*]] = arith.index_cast %[[A8_HIGH]] : index to i32
  // CHECK-NEXT: %[[LIMIT8:.*]] = arith.subi %[[A8]], %[[C]] : i32
  // CHECK-NEXT: %[[L0:.*]] = arith.cmpi sle, %[[LIMIT]], %c0_i32 : i32
  // CHECK-NEXT: %[[U0:.*]] = arith.cmpi sge, %[[LIMIT]], %c0_i32 : i32
  // CHECK-NEXT: %[[E0:.*]] = arith.andi %[[L0]], %[[U0]] : i1
  // CHECK-NEXT: arith.select %[[E0]]
  // CHECK-NEXT: %[[L1:.*]] = arith.cmpi sle, %[[LIMIT]], %c1_i32 : i32
  // CHECK-NEXT: %[[U1:.*]] = arith.cmpi sge, %[[LIMIT]], %c1_i32 : i32
  // CHECK-NEXT: %[[E1:.*]] = arith.andi %[[L1]], %[[U1]] : i1
  // CHECK-NEXT: arith.select %[[E1]]
  // CHECK-NEXT: %[[L2:.*]] = arith.cmpi sle, %[[LIMIT8]], %c0_i32 : i32
  // CHECK-NEXT: %[[U2:.*]] = arith.cmpi sge, %[[LIMIT8]], %c0_i32 : i32
  // CHECK-NEXT: %[[E2:.*]] = arith.andi %[[L2]], %[[U2]] : i1
  // CHECK-NEXT: arith.select %[[E2]]
  // CHECK-NEXT: %[[L3:.*]] = arith.cmpi sle, %[[LIMIT8]], %c1_i32 : i32
  // CHECK-NEXT: %[[U3:.*]] = arith.cmpi sge, %[[LIMIT8]], %c1_i32 : i32
  // CHECK-NEXT: %[[E3:.*]] = arith.andi %[[L3]], %[[U3]] : i1
  // CHECK-NEXT: arith.select %[[E3]]
  // CHECK-NOT: arith.cmpi s
  // CHECK: llvm.return
  llvm.func @equal(%p: !llvm.ptr, %f: i64, %x: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %first = builtin.unrealized_conversion_cast %f : i64 to index
    %y = arith.constant 1.0 : f32
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x8xf32>
    %c64 = arith.constant 64 : index
    %s = wg.splat %x : f32 -> !wg.fragment<64x8xf32, accumulator>
    %k = wg.map %s : !wg.fragment<64x8xf32, accumulator> -> !wg.fragment<64x8xf32, accumulator> {
    ^bb0(%a: f32, %row: index, %column: index):
      %i = arith.addi %first, %row : index
      %c = arith.cmpi eq, %column, %i : index
      %d = arith.select %c, %a, %y : f32
      wg.yield %d : f32
    }
    wg.store %k, %m count %c64 : !wg.fragment<64x8xf32, accumulator>, memref<64x8xf32>
    llvm.return
  }

  // row - column >= first: "at least" is an upper limit of the column.
  // CHECK-LABEL: llvm.func @negated
  // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
  // CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c2 : index
  // CHECK: %[[FIRST:.*]] = builtin.unrealized_conversion_cast %arg1 : i64 to index
  // CHECK: %[[REST:.*]] = arith.subi %[[FIRST]], %[[ROW]] : index
  // CHECK-NEXT: %[[A_LOW:.*]] = arith.maxsi %[[REST]], %c-1073741824 : index
  // CHECK-NEXT: %[[A_HIGH:.*]] = arith.minsi %[[A_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[A:.*]] = arith.index_cast %[[A_HIGH]] : index to i32
  // CHECK-NEXT: %[[UPPER:.*]] = arith.subi %c0_i32, %[[A]] : i32
  // CHECK-NEXT: %[[C:.*]] = arith.index_cast %[[COLUMN]] : index to i32
  // CHECK-NEXT: %[[LIMIT:.*]] = arith.subi %[[UPPER]], %[[C]] : i32
  // CHECK-NEXT: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8 : index
  // CHECK-NEXT: %[[REST8:.*]] = arith.subi %[[FIRST]], %[[ROW8]] : index
  // CHECK-NEXT: %[[A8_LOW:.*]] = arith.maxsi %[[REST8]], %c-1073741824 : index
  // CHECK-NEXT: %[[A8_HIGH:.*]] = arith.minsi %[[A8_LOW]], %c1073741824 : index
  // CHECK-NEXT: %[[A8:.*]] = arith.index_cast %[[A8_HIGH]] : index to i32
  // CHECK-NEXT: %[[UPPER8:.*]] = arith.subi %c0_i32, %[[A8]] : i32
  // CHECK-NEXT: %[[LIMIT8:.*]] = arith.subi %[[UPPER8]], %[[C]] : i32
  // CHECK-NEXT: %[[E0:.*]] = arith.cmpi sge, %[[LIMIT]], %c0_i32 : i32
  // CHECK-NEXT: arith.select %[[E0]]
  // CHECK-NEXT: %[[E1:.*]] = arith.cmpi sge, %[[LIMIT]], %c1_i32 : i32
  // CHECK-NEXT: arith.select %[[E1]]
  // CHECK-NEXT: %[[E2:.*]] = arith.cmpi sge, %[[LIMIT8]], %c0_i32 : i32
  // CHECK-NEXT: arith.select %[[E2]]
  // CHECK-NEXT: %[[E3:.*]] = arith.cmpi sge, %[[LIMIT8]], %c1_i32 : i32
  // CHECK-NEXT: arith.select %[[E3]]
  // CHECK-NOT: arith.cmpi s
  // CHECK: llvm.return
  llvm.func @negated(%p: !llvm.ptr, %f: i64, %x: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %first = builtin.unrealized_conversion_cast %f : i64 to index
    %y = arith.constant 1.0 : f32
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x8xf32>
    %c64 = arith.constant 64 : index
    %s = wg.splat %x : f32 -> !wg.fragment<64x8xf32, accumulator>
    %k = wg.map %s : !wg.fragment<64x8xf32, accumulator> -> !wg.fragment<64x8xf32, accumulator> {
    ^bb0(%a: f32, %row: index, %column: index):
      %i = arith.subi %row, %column : index
      %c = arith.cmpi sge, %i, %first : index
      %d = arith.select %c, %a, %y : f32
      wg.yield %d : f32
    }
    wg.store %k, %m count %c64 : !wg.fragment<64x8xf32, accumulator>, memref<64x8xf32>
    llvm.return
  }

  // Twice the column, a quotient, "not equal", unsigned comparisons and those of other types
  // are no range: they stay as they are, and so does the conjunction. What is a range in it
  // is one by itself.
  // CHECK-LABEL: llvm.func @others
  // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
  // CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c2 : index
  // CHECK: %[[FIRST:.*]] = builtin.unrealized_conversion_cast %arg1 : i64 to index
  // CHECK: arith.index_cast %[[COLUMN]] : index to i32
  // CHECK: %[[LIMIT:.*]] = arith.subi %{{.*}}, %{{.*}} : i32
  // CHECK: %[[LIMIT8:.*]] = arith.subi %{{.*}}, %{{.*}} : i32
  // CHECK-NEXT: %[[LINEAR:.*]] = arith.cmpi sge, %[[LIMIT]], %c0_i32 : i32
  // CHECK-NEXT: %[[TWICE:.*]] = arith.addi %[[COLUMN]], %[[COLUMN]] : index
  // CHECK-NEXT: %[[LESS:.*]] = arith.subi %[[TWICE]], %[[ROW]] : index
  // CHECK-NEXT: %[[DOUBLE:.*]] = arith.cmpi slt, %[[LESS]], %[[FIRST]] : index
  // CHECK-NEXT: %[[THIRD:.*]] = arith.divsi %[[COLUMN]], %c3 : index
  // CHECK-NEXT: %[[QUOTIENT:.*]] = arith.cmpi eq, %[[THIRD]], %[[FIRST]] : index
  // CHECK-NEXT: %[[UNEQUAL:.*]] = arith.cmpi ne, %[[COLUMN]], %[[FIRST]] : index
  // CHECK-NEXT: %[[UNSIGNED:.*]] = arith.cmpi ult, %[[COLUMN]], %[[FIRST]] : index
  // CHECK-NEXT: %[[WIDE:.*]] = arith.index_cast %[[COLUMN]] : index to i64
  // CHECK-NEXT: %[[TYPE:.*]] = arith.cmpi slt, %[[WIDE]], %arg1 : i64
  // CHECK-NEXT: %[[AND0:.*]] = arith.andi %[[LINEAR]], %[[DOUBLE]] : i1
  // CHECK-NEXT: %[[AND1:.*]] = arith.andi %[[AND0]], %[[QUOTIENT]] : i1
  // CHECK-NEXT: %[[AND2:.*]] = arith.andi %[[AND1]], %[[UNEQUAL]] : i1
  // CHECK-NEXT: %[[AND3:.*]] = arith.andi %[[AND2]], %[[UNSIGNED]] : i1
  // CHECK-NEXT: %[[AND4:.*]] = arith.andi %[[AND3]], %[[TYPE]] : i1
  // CHECK-NEXT: arith.select %[[AND4]]
  // CHECK: arith.cmpi sge, %[[LIMIT]], %c1_i32 : i32
  // CHECK: arith.cmpi sge, %[[LIMIT8]], %c0_i32 : i32
  // CHECK: arith.cmpi sge, %[[LIMIT8]], %c1_i32 : i32
  // CHECK: llvm.return
  llvm.func @others(%p: !llvm.ptr, %f: i64, %x: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %first = builtin.unrealized_conversion_cast %f : i64 to index
    %c3 = arith.constant 3 : index
    %y = arith.constant 1.0 : f32
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x8xf32>
    %c64 = arith.constant 64 : index
    %s = wg.splat %x : f32 -> !wg.fragment<64x8xf32, accumulator>
    %k = wg.map %s : !wg.fragment<64x8xf32, accumulator> -> !wg.fragment<64x8xf32, accumulator> {
    ^bb0(%a: f32, %row: index, %column: index):
      %linear = arith.cmpi sle, %column, %row : index
      %twice = arith.addi %column, %column : index
      %less = arith.subi %twice, %row : index
      %double = arith.cmpi slt, %less, %first : index
      %third = arith.divsi %column, %c3 : index
      %quotient = arith.cmpi eq, %third, %first : index
      %unequal = arith.cmpi ne, %column, %first : index
      %unsigned = arith.cmpi ult, %column, %first : index
      %wide = arith.index_cast %column : index to i64
      %type = arith.cmpi slt, %wide, %f : i64
      %0 = arith.andi %linear, %double : i1
      %1 = arith.andi %0, %quotient : i1
      %2 = arith.andi %1, %unequal : i1
      %3 = arith.andi %2, %unsigned : i1
      %c = arith.andi %3, %type : i1
      %d = arith.select %c, %a, %y : f32
      wg.yield %d : f32
    }
    wg.store %k, %m count %c64 : !wg.fragment<64x8xf32, accumulator>, memref<64x8xf32>
    llvm.return
  }
}
