// 16-bit rows are stored in chunks of 16 bytes where they start at a multiple of them:
// the threads of a quad exchange pairs of columns until each has eight neighbours. Rows
// that start elsewhere go by pairs.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK: llvm.func @chunks
// CHECK-SAME: (%{{.*}}: bf16, %[[P:[a-z0-9]+]]: !llvm.ptr, %{{.*}}: i64)
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK: %[[IN_QUAD:.*]] = arith.remui %{{.*}}, %c4 : index
// CHECK: %[[COUNT:.*]] = builtin.unrealized_conversion_cast %{{.*}} : i64 to index
// CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
// CHECK: %[[POINTER:.*]] = memref.extract_aligned_pointer_as_index
// CHECK: %[[SKIP:.*]] = arith.muli %[[OFFSET]], %c2
// CHECK: %[[BASE:.*]] = arith.addi %[[POINTER]], %[[SKIP]]
// The first row's address and the rows' distance.
// CHECK: %[[STEP:.*]] = arith.muli %[[STRIDES]]#0, %c2
// CHECK: %[[BITS:.*]] = arith.ori %[[BASE]], %[[STEP]]
// CHECK: %[[ODD:.*]] = arith.andi %[[BITS]], %c15
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[ODD]], %c0
// CHECK: scf.if %[[ALIGNED]] {
// Each 32 columns of a row are four words in each of four threads: two exchanges of two
// words each.
// CHECK-COUNT-2: nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c1_i32, %c31_i32 : i32 -> i32
// CHECK-COUNT-2: nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c2_i32, %c31_i32 : i32 -> i32
// CHECK-NOT: nvvm.shfl
// The exchange is everybody's; the store is that of rows that exist.
// CHECK: %[[HERE:.*]] = arith.cmpi ult, %[[ROW]], %[[COUNT]]
// CHECK: scf.if %[[HERE]] {
// CHECK: arith.muli %[[IN_QUAD]], %c8
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: }
// The row 8 below.
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl
// CHECK: scf.if
// CHECK-COUNT-1: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK: } else {
// CHECK-NOT: vector<4xi32>
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 2 : i64} : vector<2xbf16>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
gpu.module @kernels {
  llvm.func @chunks(%x: bf16, %p: !llvm.ptr, %n: i64)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %m = builtin.unrealized_conversion_cast %p
        : !llvm.ptr to memref<?x32xbf16, strided<[?, 1], offset: ?>>
    %count = builtin.unrealized_conversion_cast %n : i64 to index
    %s = wg.splat %x : bf16 -> !wg.fragment<64x32xbf16, accumulator>
    wg.store %s, %m count %count : !wg.fragment<64x32xbf16, accumulator>,
        memref<?x32xbf16, strided<[?, 1], offset: ?>>
    llvm.return
  }

  // 32-bit elements are pairs of 8 bytes already, and 16 columns are too few.
  // CHECK: llvm.func @pairs
  // CHECK-NOT: nvvm.shfl.sync bfly
  // CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<2xf32>, !llvm.ptr<1>
  // CHECK-NOT: nvvm.shfl.sync bfly
  // CHECK: llvm.store %{{.*}} {alignment = 2 : i64} : vector<2xf16>, !llvm.ptr<1>
  // CHECK: llvm.return
  llvm.func @pairs(%x: f32, %y: f16, %p: !llvm.ptr)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x32xf32>
    %n = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x16xf16>
    %c64 = arith.constant 64 : index
    %s = wg.splat %x : f32 -> !wg.fragment<64x32xf32, accumulator>
    wg.store %s, %m count %c64 : !wg.fragment<64x32xf32, accumulator>, memref<64x32xf32>
    %t = wg.splat %y : f16 -> !wg.fragment<64x16xf16, accumulator>
    wg.store %t, %n count %c64 : !wg.fragment<64x16xf16, accumulator>, memref<64x16xf16>
    llvm.return
  }
}
