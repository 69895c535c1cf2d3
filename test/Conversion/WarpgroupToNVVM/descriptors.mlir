// Tiles a known distance apart share a descriptor, and the steps of the product add to
// it; tiles that nobody knows to be have one each.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

!x = !wg.tile<64x64xbf16>
!y = !wg.tile<64x16xbf16>
!s = !wg.fragment<64x64xf32, accumulator>
!p = !wg.pending<!s>

gpu.module @kernels {
  // 16 and 8 KiB on, in units of 16 bytes; each step 16 columns, 32 bytes.
  // CHECK: llvm.func @together
  // CHECK-SAME: (%[[AT:[a-z0-9]+]]: i32, %[[B:[a-z0-9]+]]: i32)
  // CHECK-COUNT-2: arith.extui
  // CHECK-NOT: arith.extui
  // CHECK: llvm.inline_asm has_side_effects
  // CHECK-SAME: wgmma.mma_async{{[^;]*}}, $32, $33, no, 1, 1, 0, 0;
  // CHECK-SAME: add.s64 a, $32, 6;
  // CHECK-SAME: add.s64 b, $33, 6;
  // CHECK-SAME: add.s64 a, $32, 1024;
  // CHECK-SAME: add.s64 b, $33, 512;
  // CHECK-SAME: wgmma.mma_async{{[^;]*}}, a, b, yes, 1, 1, 0, 0;
  // CHECK-SAME: wgmma.commit_group
  // CHECK-SAME: (i64, i64) ->
  llvm.func @together(%at: i32, %b: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c8 = arith.constant 8192 : i32
    %c16 = arith.constant 16384 : i32
    %a1 = arith.addi %at, %c16 : i32
    %b1 = arith.addi %b, %c8 : i32
    %x = wg.tile_at %at : !x
    %y = wg.tile_at %a1 : !y
    %u = wg.tile_at %b : !x
    %v = wg.tile_at %b1 : !y
    %p = wg.mma %x, %y by %u, %v transposed : !x, !y by !x, !y -> !p
    %s = wg.wait %p : !p -> !s
    llvm.return
  }

  // CHECK: llvm.func @apart
  // CHECK-COUNT-4: arith.extui
  // CHECK: llvm.inline_asm has_side_effects
  // CHECK-SAME: wgmma.mma_async{{[^;]*}}, $32, $34, no, 1, 1, 0, 0;
  // CHECK-SAME: add.s64 a, $32, 6;
  // CHECK-SAME: add.s64 b, $34, 6;
  // CHECK-SAME: wgmma.mma_async{{[^;]*}}, $33, $35, yes, 1, 1, 0, 0;
  // CHECK-SAME: (i64, i64, i64, i64) ->
  llvm.func @apart(%a0: i32, %a1: i32, %b0: i32, %b1: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %x = wg.tile_at %a0 : !x
    %y = wg.tile_at %a1 : !y
    %u = wg.tile_at %b0 : !x
    %v = wg.tile_at %b1 : !y
    %p = wg.mma %x, %y by %u, %v transposed : !x, !y by !x, !y -> !p
    %s = wg.wait %p : !p -> !s
    llvm.return
  }

  // Columns of one tile are a known distance apart.
  // CHECK: llvm.func @columns
  // CHECK: llvm.inline_asm has_side_effects
  // CHECK-SAME: add.s64 a, $32, 512;
  // CHECK-SAME: (i64, i64) ->
  llvm.func @columns(%at: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = wg.tile_at %at : !wg.tile<64x128xbf16>
    %x = wg.columns %t[0] : !wg.tile<64x128xbf16> -> !x
    %y = wg.columns %t[64] : !wg.tile<64x128xbf16> -> !x
    %p = wg.mma %x, %y by %x, %y transposed : !x, !x by !x, !x -> !p
    %s = wg.wait %p : !p -> !s
    llvm.return
  }
}
