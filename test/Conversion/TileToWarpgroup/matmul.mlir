// A contraction is issued and waited for. The right operand's two forms, and a left
// operand that was computed.

// RUN: mla-opt %s -mla-tile-to-warpgroup | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#bt = affine_map<(m, n, k) -> (n, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @plain
// CHECK: %[[A:.*]] = wg.load %{{.*}} -> <128x64xf16>
// CHECK: %[[B:.*]] = wg.load %{{.*}} -> <64x32xf16>
// CHECK: %[[P:.*]] = wg.mma %[[A]] by %[[B]] : !wg.tile<128x64xf16> by !wg.tile<64x32xf16> -> <<128x32xf32, accumulator>>
// CHECK: wg.wait %[[P]] : <<128x32xf32, accumulator>> -> <128x32xf32, accumulator>
func.func @plain(%x: memref<?x64xf16>, %y: memref<?x32xf16>, %n: index) {
  %xt = bufferization.to_tensor %x restrict : memref<?x64xf16> to tensor<?x64xf16>
  %yt = bufferization.to_tensor %y restrict : memref<?x32xf16> to tensor<?x32xf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x32xf32>) -> tensor<128x32xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %a = tensor.extract_slice %xt[%i, 0] [128, 64] [1, 1] : tensor<?x64xf16> to tensor<128x64xf16>
    %b = tensor.extract_slice %yt[%i, 0] [64, 32] [1, 1] : tensor<?x32xf16> to tensor<64x32xf16>
    %r = linalg.matmul ins(%a, %b : tensor<128x64xf16>, tensor<64x32xf16>)
        outs(%init : tensor<128x32xf32>) -> tensor<128x32xf32>
  }
  return
}

// As a linalg.generic: what counts is the maps and the body.
// CHECK-LABEL: func.func @transposed
// CHECK: wg.mma %{{.*}} by %{{.*}} transposed : !wg.tile<128x64xbf16> by !wg.tile<32x64xbf16> -> <<128x32xf32, accumulator>>
func.func @transposed(%x: memref<?x64xbf16>, %n: index) {
  %xt = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x32xf32>) -> tensor<128x32xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %a = tensor.extract_slice %xt[%i, 0] [128, 64] [1, 1] : tensor<?x64xbf16> to tensor<128x64xbf16>
    %b = tensor.extract_slice %xt[%h, 0] [32, 64] [1, 1] : tensor<?x64xbf16> to tensor<32x64xbf16>
    %r = linalg.generic {indexing_maps = [#a, #bt, #c],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<128x64xbf16>, tensor<32x64xbf16>)
        outs(%init : tensor<128x32xf32>) {
    ^bb0(%p: bf16, %q: bf16, %sum: f32):
      %p32 = arith.extf %p : bf16 to f32
      %q32 = arith.extf %q : bf16 to f32
      %pq = arith.mulf %p32, %q32 : f32
      %more = arith.addf %sum, %pq : f32
      linalg.yield %more : f32
    } -> tensor<128x32xf32>
  }
  return
}

// CHECK-LABEL: func.func @computed
// CHECK: %[[S:.*]] = wg.wait
// CHECK: %[[P:.*]] = wg.map %[[S]] : !wg.fragment<64x64xf32, accumulator> -> <64x64xbf16, accumulator>
// CHECK: %[[A:.*]] = wg.operand_a %[[P]] : <64x64xbf16, accumulator> -> <64x64xbf16, operand_a>
// CHECK: wg.mma %[[A]] by %{{.*}} : !wg.fragment<64x64xbf16, operand_a> by !wg.tile<64x64xbf16> -> <<64x64xf32, accumulator>>
func.func @computed(%x: memref<?x64xbf16>, %n: index) {
  %xt = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %half = tensor.empty() : tensor<64x64xbf16>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %a = tensor.extract_slice %xt[%i, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to tensor<64x64xbf16>
    %s = linalg.matmul ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>)
        outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<64x64xf32>) outs(%half : tensor<64x64xbf16>) {
    ^bb0(%e: f32, %o: bf16):
      %t = arith.truncf %e : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<64x64xbf16>
    %r = linalg.matmul ins(%p, %a : tensor<64x64xbf16>, tensor<64x64xbf16>)
        outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  }
  return
}
