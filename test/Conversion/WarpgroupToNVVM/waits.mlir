// A wait leaves as many products in flight as the block has issued since, no more.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm | grep -oE 'llvm.func @[a-z_]+|wgmma\.wait_group[a-z.]* [0-9]+' \
// RUN:   | FileCheck %s

!a = !wg.tile<64x64xbf16>
!s = !wg.fragment<64x64xf32, accumulator>
!p = !wg.pending<!s>

gpu.module @kernels {
  // CHECK: @one
  // CHECK-NEXT: wgmma.wait_group.sync.aligned 0
  llvm.func @one(%at: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %a = wg.tile_at %at : !a
    %p = wg.mma %a by %a : !a by !a -> !p
    %s = wg.wait %p : !p -> !s
    llvm.return
  }

  // Of three, the first may be there before the other two.
  // CHECK-NEXT: @three
  // CHECK-NEXT: wgmma.wait_group.sync.aligned 2
  // CHECK-NEXT: wgmma.wait_group.sync.aligned 1
  // CHECK-NEXT: wgmma.wait_group.sync.aligned 0
  llvm.func @three(%at: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %a = wg.tile_at %at : !a
    %p = wg.mma %a by %a : !a by !a -> !p
    %q = wg.mma %a by %a : !a by !a -> !p
    %r = wg.mma %a by %a : !a by !a -> !p
    %s = wg.wait %p : !p -> !s
    %t = wg.wait %q : !p -> !s
    %u = wg.wait %r : !p -> !s
    llvm.return
  }

  // They arrive in order: the wait for the last is one for all.
  // CHECK-NEXT: @reversed
  // CHECK-NEXT: wgmma.wait_group.sync.aligned 0
  // CHECK-NEXT: wgmma.wait_group.sync.aligned 1
  llvm.func @reversed(%at: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %a = wg.tile_at %at : !a
    %p = wg.mma %a by %a : !a by !a -> !p
    %q = wg.mma %a by %a : !a by !a -> !p
    %t = wg.wait %q : !p -> !s
    %s = wg.wait %p : !p -> !s
    llvm.return
  }

  // Of a product from another block nobody knows what came after it.
  // CHECK-NEXT: @other_block
  // CHECK-NEXT: wgmma.wait_group.sync.aligned 0
  llvm.func @other_block(%at: i32, %some: i1)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %a = wg.tile_at %at : !a
    %p = wg.mma %a by %a : !a by !a -> !p
    scf.if %some {
      %q = wg.mma %a by %a : !a by !a -> !p
      %s = wg.wait %p : !p -> !s
    }
    llvm.return
  }
}
