// A slice that two loops read is loaded where both see it.

// RUN: mla-opt %s -mla-tile-to-warpgroup -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @two_loops
// CHECK: %[[A:.*]] = wg.load
// CHECK: scf.for
// CHECK-NOT: wg.load
// CHECK: wg.mma %[[A]] by %[[A]]
// CHECK: scf.for
// CHECK-NOT: wg.load
// CHECK: wg.mma %[[A]] by %[[A]]
func.func @two_loops(%x: memref<?x64xbf16>, %n: index, %c0: index, %c1: index, %f: f32) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%f : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %a = tensor.extract_slice %t[%i, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to tensor<64x64xbf16>
    %u = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %s) -> (tensor<64x64xf32>) {
      %r = linalg.matmul ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>)
          outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %r : tensor<64x64xf32>
    }
    %v = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %u) -> (tensor<64x64xf32>) {
      %r = linalg.matmul ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>)
          outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %r : tensor<64x64xf32>
    }
  }
  return
}
