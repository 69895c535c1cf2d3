// A function that does not say how many threads run it is refused.

// RUN: not mla-opt %s -mla-warpgroup-to-nvvm 2>&1 | FileCheck %s

// CHECK: error: {{.*}}nvvm.reqntid
gpu.module @kernels {
  llvm.func @helper(%p: !llvm.ptr) {
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x64xbf16>
    %t = wg.load %m : memref<64x64xbf16> -> !wg.tile<64x64xbf16>
    llvm.return
  }
}
