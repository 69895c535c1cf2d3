// What an instruction of the target cannot do.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -mla-warpgroup-to-nvvm -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 4

gpu.module @kernels {
  llvm.func @columns(%p: !llvm.ptr) attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x64xbf16>
    %n = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<264x64xbf16>
    %a = wg.load %m : memref<64x64xbf16> -> !wg.tile<64x64xbf16>
    %b = wg.load %n : memref<264x64xbf16> -> !wg.tile<264x64xbf16>
    // expected-error @+2 {{'wg.mma' op expected n to be a multiple of 8 up to 256, got 264}}
    // expected-error @+1 {{failed to legalize operation 'wg.mma'}}
    %i = wg.mma %a by %b transposed : !wg.tile<64x64xbf16> by !wg.tile<264x64xbf16>
        -> !wg.pending<!wg.fragment<64x264xf32, accumulator>>
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @exchange(%x: bf16) attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %s = wg.splat %x : bf16 -> !wg.fragment<64x16xbf16, accumulator>
    %r = wg.splat %x : bf16 -> !wg.fragment<64xbf16, row>
    // expected-error @+2 {{'wg.reduce' op only f32 is exchanged between threads}}
    // expected-error @+1 {{failed to legalize operation 'wg.reduce'}}
    %u = wg.reduce %s, %r : !wg.fragment<64x16xbf16, accumulator> -> !wg.fragment<64xbf16, row> {
    ^bb0(%a: bf16, %b: bf16):
      %c = arith.maximumf %a, %b : bf16
      wg.yield %c : bf16
    }
    llvm.return
  }
}
