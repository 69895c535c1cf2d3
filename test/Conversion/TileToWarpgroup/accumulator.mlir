// A sum that starts from zero needs no accumulator; any other start is one, constant
// or computed.

// RUN: mla-opt %s -mla-tile-to-warpgroup | FileCheck %s

// CHECK-LABEL: func.func @accumulator
// CHECK-SAME: %{{.*}}: index, %[[BIAS:[a-z0-9]+]]: f32
// CHECK-NOT: wg.splat
// CHECK: %[[P:.*]] = wg.mma %{{.*}} by %{{.*}} : !wg.tile
// CHECK: %[[S:.*]] = wg.wait %[[P]]
// CHECK: %[[Q:.*]] = wg.mma %{{.*}} by %{{.*}} accumulate %[[S]] : !wg.fragment<64x64xf32, accumulator>, !wg.tile
// CHECK: wg.wait %[[Q]]
// CHECK: wg.mma %{{.*}} by %{{.*}} accumulate %[[S]]
// CHECK: %[[B:.*]] = wg.splat %[[BIAS]] : f32 -> <64x64xf32, accumulator>
// CHECK: wg.mma %{{.*}} by %{{.*}} accumulate %[[B]] : !wg.fragment<64x64xf32, accumulator>, !wg.tile
// CHECK-NOT: wg.splat
// CHECK: wg.mma %{{.*}} by %{{.*}} : !wg.tile
func.func @accumulator(%x: memref<?x64xbf16>, %n: index, %bias: f32) {
  %xt = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %biases = linalg.fill ins(%bias : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %negative = linalg.fill ins(%minus : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %a = tensor.extract_slice %xt[%i, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to tensor<64x64xbf16>
    %s = linalg.matmul ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>)
        outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
    %u = linalg.matmul ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>)
        outs(%s : tensor<64x64xf32>) -> tensor<64x64xf32>
    // Two products start from %s, so that it has to be there.
    %t = linalg.matmul ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>)
        outs(%s : tensor<64x64xf32>) -> tensor<64x64xf32>
    %v = linalg.matmul ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>)
        outs(%biases : tensor<64x64xf32>) -> tensor<64x64xf32>
    %w = linalg.matmul ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>)
        outs(%negative : tensor<64x64xf32>) -> tensor<64x64xf32>
  }
  return
}
