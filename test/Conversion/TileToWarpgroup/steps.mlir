// Every other column of a tile, or every other row of a result, is refused.

// RUN: mla-opt %s -mla-tile-to-warpgroup -split-input-file -verify-diagnostics

func.func @columns(%x: memref<?x192xbf16>, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x192xbf16> to tensor<?x192xbf16>
  %nothing = arith.constant 0.0 : bf16
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, 0] [%count, 192] [1, 1] : tensor<?x192xbf16> to tensor<?x192xbf16>
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<?x192xbf16> to tensor<64x192xbf16>
    // expected-error @+1 {{'tensor.extract_slice' op has no home on a GPU}}
    %u = tensor.extract_slice %p[0, 0] [64, 64] [1, 2] : tensor<64x192xbf16> to tensor<64x64xbf16>
  }
  return
}

// -----

func.func @rows(%n: index, %count: index, %a: f32) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%a : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %m = linalg.mul ins(%s, %s : tensor<64x64xf32>, tensor<64x64xf32>)
        outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
    // expected-error @+1 {{'tensor.extract_slice' op has no home on a GPU}}
    %u = tensor.extract_slice %m[0, 0] [%count, 64] [2, 1] : tensor<64x64xf32> to tensor<?x64xf32>
  }
  return
}

// -----

func.func @insertion(%n: index, %out: memref<?x128xf32>, %a: f32) {
  %ot = bufferization.to_tensor %out restrict writable : memref<?x128xf32> to tensor<?x128xf32>
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%a : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = scf.forall (%i, %h) in (%n, 4) shared_outs(%o = %ot) -> (tensor<?x128xf32>) {
    scf.forall.in_parallel {
      // expected-error @+1 {{stride}}
      tensor.parallel_insert_slice %s into %o[%i, 0] [64, 64] [1, 2]
          : tensor<64x64xf32> into tensor<?x128xf32>
    }
  }
  return
}
