// A launch in a loop takes no more of the stack each time: all its memory is the
// function's, reserved where that begins. Without a wish to stay resident there is a block
// for each item.

// RUN: mla-opt %s -mla-lower-launch -split-input-file | FileCheck %s

// CHECK: func.func @loop
// CHECK-COUNT-8: llvm.alloca
// A map for each of the copy engine's 128 bytes, at a multiple of 64.
// CHECK-NOT: scf.for
// CHECK: scf.for
// CHECK-NOT: llvm.alloca
// CHECK: llvm.call @mlaRuntimeEncodeTensorMap
// CHECK-NOT: llvm.alloca
// CHECK: llvm.mlir.constant(0 : i32)
// CHECK: llvm.call @mlaRuntimeLaunch
// CHECK-NOT: llvm.alloca
module attributes {gpu.container_module} {
  func.func @loop(%k: memref<?x128xbf16>, %p: !llvm.ptr, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c384 = arith.constant 384 : index
    %rows = memref.dim %k, %c0 : memref<?x128xbf16>
    scf.for %i = %c0 to %n step %c1 {
      %0 = wg.tensor_map %k operand "k" : memref<?x128xbf16> -> !wg.tensor_map<128x64xbf16>
      %1 = builtin.unrealized_conversion_cast %0 : !wg.tensor_map<128x64xbf16> to !llvm.ptr
      gpu.launch_func @kernels::@kernel blocks in (%rows, %c1, %c1) threads in (%c384, %c1, %c1)
          args(%p : !llvm.ptr, %1 : !llvm.ptr)
    }
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "text">]
}

// -----

// The map's own place.
// CHECK: func.func @place
// CHECK: llvm.alloca %{{.*}} x !llvm.array<128 x i8> {alignment = 64 : i64}
module attributes {gpu.container_module} {
  func.func @place(%k: memref<?x128xbf16>, %p: !llvm.ptr, %n: index) {
    %c0 = arith.constant 0 : index
    %rows = memref.dim %k, %c0 : memref<?x128xbf16>
    %0 = wg.tensor_map %k operand "k" : memref<?x128xbf16> -> !wg.tensor_map<128x64xbf16>
    %1 = builtin.unrealized_conversion_cast %0 : !wg.tensor_map<128x64xbf16> to !llvm.ptr
    gpu.launch_func @kernels::@kernel blocks in (%n, %n, %n) threads in (%rows, %n, %n)
        args(%1 : !llvm.ptr)
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "text">]
}
