// RUN: mla-opt %s -mla-lower-launch -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -mla-lower-launch -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 2

// A kernel that nobody has compiled.
module attributes {gpu.container_module} {
  func.func @no_binary(%n: index) {
    // expected-error @+1 {{'gpu.launch_func' op expected a gpu.binary '"kernels"'; run mla-nvvm-to-binary}}
    gpu.launch_func @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n)
    return
  }
  gpu.module @kernels {
    llvm.func @kernel() attributes {gpu.kernel} {
      llvm.return
    }
  }
}

// -----

// A map lives on the stack of the function that launches.
module {
  func.func private @elsewhere(!wg.tensor_map<128x64xbf16>)
  func.func @escapes(%k: memref<?x128xbf16>) {
    %c0 = arith.constant 0 : index
    %rows = memref.dim %k, %c0 : memref<?x128xbf16>
    %0 = wg.tensor_map %k operand "k" : memref<?x128xbf16> -> !wg.tensor_map<128x64xbf16>
    // expected-error @+1 {{'func.call' op uses a tensor map other than by a launch}}
    func.call @elsewhere(%0) : (!wg.tensor_map<128x64xbf16>) -> ()
    return
  }
}
