// Ops of the memref dialect are made where there were none.

// RUN: mla-opt %s -mla-lower-launch | FileCheck %s
// CHECK: memref.extract_strided_metadata
module attributes {gpu.container_module} {
  func.func @launch(%k: memref<?x128xbf16>, %n: index) {
    %0 = wg.tensor_map %k operand "k" : memref<?x128xbf16> -> !wg.tensor_map<128x64xbf16>
    %1 = builtin.unrealized_conversion_cast %0 : !wg.tensor_map<128x64xbf16> to !llvm.ptr
    gpu.launch_func @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n)
        args(%1 : !llvm.ptr)
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "text">]
}
