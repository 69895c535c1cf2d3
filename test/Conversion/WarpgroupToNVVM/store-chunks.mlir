// 16-bit rows are stored in chunks of 16 bytes where they start at a multiple of them:
// the threads of a quad exchange pairs of columns until each has eight neighbours. Rows
// that start elsewhere go by pairs. Either way pairs are words, of one conversion.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK: llvm.func @chunks
// CHECK-SAME: (%{{.*}}: bf16, %[[P:[a-z0-9]+]]: !llvm.ptr, %{{.*}}: i64)
// CHECK: %[[THREAD:.*]] = arith.index_castui %{{.*}} : i32 to index
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK: %[[IN_QUAD:.*]] = arith.remui %{{.*}}, %c4 : index
// CHECK: %[[COUNT:.*]] = builtin.unrealized_conversion_cast %{{.*}} : i64 to index
// CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
// CHECK: %[[POINTER:.*]] = memref.extract_aligned_pointer_as_index
// CHECK: %[[SKIP:.*]] = arith.muli %[[OFFSET]], %c2
// CHECK: %[[BASE:.*]] = arith.addi %[[POINTER]], %[[SKIP]]
// One word for all pairs: they are the same here.
// CHECK: %[[PAIR:.*]] = vector.broadcast %{{.*}} : bf16 to vector<2xbf16>
// CHECK-NEXT: %[[BOTH:.*]] = vector.bitcast %[[PAIR]] : vector<2xbf16> to vector<1xi32>
// CHECK-NEXT: %[[WORD:.*]] = vector.extract %[[BOTH]][0]
// The first row's address and the rows' distance.
// CHECK: %[[STEP:.*]] = arith.muli %[[STRIDES]]#0, %c2
// CHECK: %[[BITS:.*]] = arith.ori %[[BASE]], %[[STEP]]
// CHECK: %[[ODD:.*]] = arith.andi %[[BITS]], %c15
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[ODD]], %c0
// CHECK: scf.if %[[ALIGNED]] {
// CHECK-NOT: vector.bitcast
// Each 32 columns of a row are four words in each of four threads: two exchanges of two
// words each.
// CHECK: %[[BIT1:.*]] = arith.andi %[[THREAD]], %c1 : index
// CHECK: %[[ODD_LANE:.*]] = arith.cmpi ne, %[[BIT1]], %c0 : index
// CHECK-NOT: scf.if
// CHECK: %[[AX0:.*]] = nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c1_i32, %c31_i32 : i32 -> i32
// CHECK-NEXT: %[[AL0:.*]] = arith.select %[[ODD_LANE]], %[[AX0]], %[[WORD]]
// CHECK-NEXT: %[[AH0:.*]] = arith.select %[[ODD_LANE]], %[[WORD]], %[[AX0]]
// CHECK: %[[AX1:.*]] = nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c1_i32, %c31_i32 : i32 -> i32
// CHECK-NEXT: %[[AL1:.*]] = arith.select %[[ODD_LANE]], %[[AX1]], %[[WORD]]
// CHECK-NEXT: %[[AH1:.*]] = arith.select %[[ODD_LANE]], %[[WORD]], %[[AX1]]
// CHECK: %[[BIT2:.*]] = arith.andi %[[THREAD]], %c2 : index
// CHECK-NEXT: %[[UPPER_LANE:.*]] = arith.cmpi ne, %[[BIT2]], %c0 : index
// CHECK-NEXT: %[[AS0:.*]] = arith.select %[[UPPER_LANE]], %[[AL0]], %[[AL1]]
// CHECK-NEXT: %[[AY0:.*]] = nvvm.shfl.sync bfly %c-1_i32, %[[AS0]], %c2_i32, %c31_i32 : i32 -> i32
// CHECK-NEXT: %[[AW0:.*]] = arith.select %[[UPPER_LANE]], %[[AY0]], %[[AL0]]
// CHECK-NEXT: %[[AW2:.*]] = arith.select %[[UPPER_LANE]], %[[AL1]], %[[AY0]]
// CHECK-NEXT: %[[AS1:.*]] = arith.select %[[UPPER_LANE]], %[[AH0]], %[[AH1]]
// CHECK-NEXT: %[[AY1:.*]] = nvvm.shfl.sync bfly %c-1_i32, %[[AS1]], %c2_i32, %c31_i32 : i32 -> i32
// CHECK-NEXT: %[[AW1:.*]] = arith.select %[[UPPER_LANE]], %[[AY1]], %[[AH0]]
// CHECK-NEXT: %[[AW3:.*]] = arith.select %[[UPPER_LANE]], %[[AH1]], %[[AY1]]
// The row 8 below, before either is stored.
// CHECK-NOT: scf.if
// CHECK: %[[BX0:.*]] = nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c1_i32, %c31_i32 : i32 -> i32
// CHECK-NEXT: %[[BL0:.*]] = arith.select %[[ODD_LANE]], %[[BX0]], %[[WORD]]
// CHECK-NEXT: %[[BH0:.*]] = arith.select %[[ODD_LANE]], %[[WORD]], %[[BX0]]
// CHECK: %[[BX1:.*]] = nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c1_i32, %c31_i32 : i32 -> i32
// CHECK-NEXT: %[[BL1:.*]] = arith.select %[[ODD_LANE]], %[[BX1]], %[[WORD]]
// CHECK-NEXT: %[[BH1:.*]] = arith.select %[[ODD_LANE]], %[[WORD]], %[[BX1]]
// CHECK-NEXT: %[[BS0:.*]] = arith.select %[[UPPER_LANE]], %[[BL0]], %[[BL1]]
// CHECK-NEXT: %[[BY0:.*]] = nvvm.shfl.sync bfly %c-1_i32, %[[BS0]], %c2_i32, %c31_i32 : i32 -> i32
// CHECK-NEXT: %[[BW0:.*]] = arith.select %[[UPPER_LANE]], %[[BY0]], %[[BL0]]
// CHECK-NEXT: %[[BW2:.*]] = arith.select %[[UPPER_LANE]], %[[BL1]], %[[BY0]]
// CHECK-NEXT: %[[BS1:.*]] = arith.select %[[UPPER_LANE]], %[[BH0]], %[[BH1]]
// CHECK-NEXT: %[[BY1:.*]] = nvvm.shfl.sync bfly %c-1_i32, %[[BS1]], %c2_i32, %c31_i32 : i32 -> i32
// CHECK-NEXT: %[[BW1:.*]] = arith.select %[[UPPER_LANE]], %[[BY1]], %[[BH0]]
// CHECK-NEXT: %[[BW3:.*]] = arith.select %[[UPPER_LANE]], %[[BH1]], %[[BY1]]
// CHECK-NOT: nvvm.shfl
// The exchange is everybody's; the store is that of rows that exist.
// CHECK: %[[START:.*]] = arith.muli %[[IN_QUAD]], %c8
// CHECK-NEXT: %[[HERE:.*]] = arith.cmpi ult, %[[ROW]], %[[COUNT]]
// CHECK-NEXT: scf.if %[[HERE]] {
// CHECK-NEXT: %[[CHUNK:.*]] = vector.from_elements %[[AW0]], %[[AW1]], %[[AW2]], %[[AW3]] : vector<4xi32>
// CHECK-NEXT: %[[SKIP:.*]] = arith.muli %[[ROW]], %[[STRIDES]]#0
// CHECK-NEXT: arith.addi %[[SKIP]], %[[START]]
// CHECK: llvm.store %[[CHUNK]], %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK-NEXT: }
// CHECK-NEXT: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8
// CHECK-NEXT: %[[HERE8:.*]] = arith.cmpi ult, %[[ROW8]], %[[COUNT]]
// CHECK-NEXT: scf.if %[[HERE8]] {
// CHECK-NEXT: %[[CHUNK8:.*]] = vector.from_elements %[[BW0]], %[[BW1]], %[[BW2]], %[[BW3]] : vector<4xi32>
// CHECK-NEXT: %[[SKIP8:.*]] = arith.muli %[[ROW8]], %[[STRIDES]]#0
// CHECK-NEXT: arith.addi %[[SKIP8]], %[[START]]
// CHECK: llvm.store %[[CHUNK8]], %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK-NEXT: }
// CHECK-NEXT: } else {
// CHECK-NOT: vector.
// CHECK: arith.cmpi ult, %[[ROW]], %[[COUNT]]
// CHECK-COUNT-4: llvm.store %[[WORD]], %{{.*}} {alignment = 2 : i64} : i32, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: arith.cmpi ult, %{{.*}}, %[[COUNT]]
// CHECK-NOT: vector.
// CHECK-COUNT-4: llvm.store %[[WORD]], %{{.*}} {alignment = 2 : i64} : i32, !llvm.ptr<1>
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
  // CHECK-NOT: vector.bitcast
  // CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 4 : i64} : vector<2xf32>, !llvm.ptr<1>
  // CHECK-NOT: nvvm.shfl.sync bfly
  // CHECK-NOT: llvm.store
  // CHECK: %[[BOTH:.*]] = vector.bitcast %{{.*}} : vector<2xf16> to vector<1xi32>
  // CHECK: %[[WORD:.*]] = vector.extract %[[BOTH]][0]
  // CHECK-COUNT-4: llvm.store %[[WORD]], %{{.*}} {alignment = 2 : i64} : i32, !llvm.ptr<1>
  // CHECK-NOT: llvm.store
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
