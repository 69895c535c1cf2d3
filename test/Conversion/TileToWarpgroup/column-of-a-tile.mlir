// A slice of a tile that is no tile is refused.

// RUN: mla-opt %s -mla-tile-to-warpgroup -split-input-file -verify-diagnostics

func.func @column(%x: memref<?x64xbf16>, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %nothing = arith.constant 0.0 : bf16
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, 0] [%count, 64] [1, 1] : tensor<?x64xbf16> to tensor<?x64xbf16>
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<?x64xbf16> to tensor<64x64xbf16>
    // expected-error @+1 {{'tensor.extract_slice' op}}
    %u = tensor.extract_slice %p[0, 0] [64, 1] [1, 1] : tensor<64x64xbf16> to tensor<64xbf16>
  }
  return
}

// -----

func.func @columns(%x: memref<?x64xbf16>, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %nothing = arith.constant 0.0 : bf16
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, 0] [%count, 64] [1, 1] : tensor<?x64xbf16> to tensor<?x64xbf16>
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<?x64xbf16> to tensor<64x64xbf16>
    // expected-error @+1 {{tile: expected a multiple of 16 columns, got 8}}
    %u = tensor.extract_slice %p[0, 0] [64, 8] [1, 1] : tensor<64x64xbf16> to tensor<64x8xbf16>
  }
  return
}
