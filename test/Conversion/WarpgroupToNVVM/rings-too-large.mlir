// What does not fit a block's shared memory is refused with both numbers.

// RUN: mla-opt %s -mla-wg-lower-rings -verify-diagnostics

gpu.module @kernels {
  llvm.func @large() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %ring = wg.ring consumers 1 : !wg.ring<2 x !wg.tile<256x256xbf16>>
    // expected-error @+1 {{'wg.roles' op needs 262176 bytes of shared memory for its tiles, a block of sm_90 has 232448; choose a smaller key_tile or fewer slots}}
    wg.roles warpgroups 1 producer registers 40 {
    } consumer registers 232 {
    }
    llvm.return
  }
}
