// A product is one inline assembly: a fence, one instruction for every 16 of the sum's
// dimension, and a commit; its wait is another, through which the results go.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

gpu.module @kernels {
  // Both operands in shared memory, K in their rows. A descriptor is an address in units
  // of 16 bytes and a constant, 0x4000004000010000: 1024 bytes between groups of eight
  // rows, swizzle 128.
  // Each warpgroup has 64 rows of A, 8 KiB; columns 64 and up are the second panel.
  // CHECK: llvm.func @shared
  // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
  // CHECK: %[[START:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
  // CHECK-DAG: %[[A:.*]] = arith.addi %[[START]], %c16384_i32
  // CHECK-DAG: %[[B:.*]] = arith.addi %[[START]], %c33792_i32
  // CHECK: %[[PART:.*]] = arith.muli %{{.*}}, %c8192_i32
  // CHECK: %[[ADDRESS:.*]] = arith.addi %[[A]], %[[PART]]
  // CHECK: %[[MASKED:.*]] = arith.andi %[[ADDRESS]], %c262143_i32
  // CHECK: %[[FIELD:.*]] = arith.shrui %[[MASKED]], %c4_i32
  // CHECK: %[[WIDE:.*]] = arith.extui %[[FIELD]] : i32 to i64
  // CHECK: %[[DA:.*]] = arith.addi %[[WIDE]], %c4611686293305360384_i64
  // CHECK: %[[MB:.*]] = arith.andi %[[B]], %c262143_i32
  // CHECK: %[[FB:.*]] = arith.shrui %[[MB]], %c4_i32
  // CHECK: %[[WB:.*]] = arith.extui %[[FB]]
  // CHECK: %[[DB:.*]] = arith.addi %[[WB]], %c4611686293305360384_i64
  // CHECK: %[[ISSUED:.*]] = llvm.inline_asm has_side_effects
  // CHECK-SAME: wgmma.fence.sync.aligned;
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $4, $5, no, 1, 1, 0, 0;
  // CHECK-SAME: add.s64 a, $4, 2;
  // CHECK-SAME: add.s64 b, $5, 2;
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, a, b, yes, 1, 1, 0, 0;
  // CHECK-SAME: add.s64 a, $4, 6;
  // CHECK-SAME: wgmma.commit_group.sync.aligned;
  // CHECK-SAME: %[[DA]], %[[DB]] : (i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: llvm.inline_asm has_side_effects
  // CHECK-SAME: "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3"
  // CHECK-NOT: wg.
  llvm.func @shared(%p: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<128x128xbf16>
    %n = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<8x128xbf16>
    %a = wg.load %m : memref<128x128xbf16> -> !wg.tile<128x128xbf16>
    %b = wg.load %n : memref<8x128xbf16> -> !wg.tile<8x128xbf16>
    %c = wg.columns %a[64] : !wg.tile<128x128xbf16> -> !wg.tile<128x64xbf16>
    %d = wg.columns %b[64] : !wg.tile<8x128xbf16> -> !wg.tile<8x64xbf16>
    %i = wg.mma %c by %d transposed : !wg.tile<128x64xbf16> by !wg.tile<8x64xbf16>
        -> !wg.pending<!wg.fragment<128x8xf32, accumulator>>
    %r = wg.wait %i : !wg.pending<!wg.fragment<128x8xf32, accumulator>>
        -> !wg.fragment<128x8xf32, accumulator>
    llvm.return
  }

  // A in registers, two elements each, and an accumulator that goes in and out; B with
  // the sum's dimension down its rows: 2 KiB for every 16 rows, 4 KiB for a panel.
  // CHECK: llvm.func @registers
  // CHECK: %[[P:.*]] = vector.bitcast %{{.*}} : vector<16xf16> to vector<8xi32>
  // 0x4000004001000000
  // CHECK: arith.addi %{{.*}}, %c4611686293322072064_i64
  // CHECK: llvm.inline_asm has_side_effects
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7}, {$16, $17, $18, $19}, $24, yes, 1, 1, 1;
  // CHECK-SAME: add.s64 b, $24, 128;
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7}, {$20, $21, $22, $23}, b, yes, 1, 1, 1;
  // CHECK-SAME: wgmma.commit_group.sync.aligned;
  // CHECK-SAME: (f32, f32, f32, f32, f32, f32, f32, f32, i32, i32, i32, i32, i32, i32, i32, i32, i64)
  // CHECK: wgmma.wait_group.sync.aligned 0;
  // CHECK-NOT: wg.
  llvm.func @registers(%p: !llvm.ptr, %x: f16, %y: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<32x16xf16>
    %b = wg.load %m : memref<32x16xf16> -> !wg.tile<32x16xf16>
    %s = wg.splat %x : f16 -> !wg.fragment<64x32xf16, accumulator>
    %a = wg.operand_a %s : !wg.fragment<64x32xf16, accumulator> -> !wg.fragment<64x32xf16, operand_a>
    %c = wg.splat %y : f32 -> !wg.fragment<64x16xf32, accumulator>
    %i = wg.mma %a by %b accumulate %c : !wg.fragment<64x16xf32, accumulator>,
        !wg.fragment<64x32xf16, operand_a> by !wg.tile<32x16xf16>
        -> !wg.pending<!wg.fragment<64x16xf32, accumulator>>
    %r = wg.wait %i : !wg.pending<!wg.fragment<64x16xf32, accumulator>>
        -> !wg.fragment<64x16xf32, accumulator>
    llvm.return
  }
}
