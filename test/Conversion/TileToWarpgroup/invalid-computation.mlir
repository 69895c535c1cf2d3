// What has no form in registers or as a product.

// RUN: mla-opt %s -mla-tile-to-warpgroup -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -mla-tile-to-warpgroup -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 13

func.func @elementwise_on_a_load(%x: memref<?x64xbf16>, %n: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %empty = tensor.empty() : tensor<64x64xbf16>
  scf.forall (%i, %h) in (%n, 4) {
    %a = tensor.extract_slice %t[%i, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to tensor<64x64xbf16>
    // expected-error @+1 {{'linalg.add' op has no home on a GPU: it reads 'tensor<64x64xbf16>' in registers, but that is not computed there; use it as an operand of a contraction}}
    %w = linalg.add ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>)
        outs(%empty : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  }
  return
}

// -----

func.func @value_a_column(%n: index, %f: f32) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %row = tensor.empty() : tensor<64xf32>
  %s = linalg.fill ins(%f : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %l = linalg.fill ins(%f : f32) outs(%row : tensor<64xf32>) -> tensor<64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    // expected-error @+1 {{'linalg.generic' op has no home on a GPU: expected operands of the result's shape or one value a row}}
    %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
        affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%s, %l : tensor<64x64xf32>, tensor<64xf32>) outs(%empty : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %z = arith.addf %p, %q : f32
      linalg.yield %z : f32
    } -> tensor<64x64xf32>
  }
  return
}

// -----

func.func @nothing_to_read(%n: index, %f: f32) {
  %empty = tensor.empty() : tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    // expected-error @+1 {{'linalg.generic' op has no home on a GPU: expected an operand of the result's shape}}
    %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<64x64xf32>) {
    ^bb0(%o: f32):
      linalg.yield %f : f32
    } -> tensor<64x64xf32>
  }
  return
}

// -----

func.func @two_results(%n: index, %f: f32) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%f : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    // expected-error @+1 {{'linalg.generic' op has no home on a GPU: expected one result with an identity map}}
    %w:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
        affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<64x64xf32>) outs(%empty, %empty : tensor<64x64xf32>, tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      linalg.yield %p, %p : f32, f32
    } -> (tensor<64x64xf32>, tensor<64x64xf32>)
  }
  return
}

// -----

func.func @transpose(%n: index, %f: f32) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%f : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    // expected-error @+1 {{'linalg.transpose' op has no home on a GPU: expected an operand of the result's shape}}
    %w = linalg.transpose ins(%s : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>)
        permutation = [1, 0]
  }
  return
}

// -----

func.func @never_filled(%n: index, %f: f32) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%f : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    // expected-error @+1 {{'linalg.add' op has no home on a GPU: it reads 'tensor<64x64xf32>' in registers}}
    %w = linalg.add ins(%s, %empty : tensor<64x64xf32>, tensor<64x64xf32>)
        outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  }
  return
}

// -----

func.func @constant(%n: index) {
  scf.forall (%i, %h) in (%n, 4) {
    // expected-error @+1 {{'arith.constant' op has no home on a GPU: no rule makes a tile in shared memory or registers of it}}
    %k = arith.constant dense<1.0> : tensor<64x64xf32>
  }
  return
}

// -----

func.func @no_rule(%n: index, %f: f32) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%f : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    // expected-error @+1 {{'linalg.softmax' op has no home on a GPU: no rule makes a tile in shared memory or registers of it}}
    %w = linalg.softmax dimension(1) ins(%s : tensor<64x64xf32>)
        outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  }
  return
}

// -----

func.func @reduction_of_rows(%n: index, %f: f32) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %row = tensor.empty() : tensor<64xf32>
  %s = linalg.fill ins(%f : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %l = linalg.fill ins(%f : f32) outs(%row : tensor<64xf32>) -> tensor<64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    // expected-error @+1 {{'linalg.reduce' op has no home on a GPU: expected a reduction of the columns of one tile}}
    %w = linalg.reduce { arith.addf } ins(%s : tensor<64x64xf32>) outs(%l : tensor<64xf32>)
        dimensions = [0]
  }
  return
}

// -----

func.func @left_transposed(%x: memref<?x64xbf16>, %n: index, %f: f32) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%f : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %a = tensor.extract_slice %t[%i, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to tensor<64x64xbf16>
    // expected-error @+1 {{'linalg.matmul' op has no home on a GPU: expected a product of [m, k] and [k, n] or [n, k]}}
    %w = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
        affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>)
        outs(%s : tensor<64x64xf32>) -> tensor<64x64xf32>
  }
  return
}

// -----

func.func @batch(%n: index) {
  %a = tensor.empty() : tensor<2x64x64xbf16>
  %r = tensor.empty() : tensor<2x64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    // expected-error @+1 {{'linalg.batch_matmul' op has no home on a GPU: expected a product of [m, k] and [k, n] or [n, k]}}
    %w = linalg.batch_matmul ins(%a, %a : tensor<2x64x64xbf16>, tensor<2x64x64xbf16>)
        outs(%r : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  }
  return
}

// -----

func.func @right_not_loaded(%x: memref<?x64xbf16>, %n: index, %f: f32, %g: bf16) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %empty = tensor.empty() : tensor<64x64xf32>
  %half = tensor.empty() : tensor<64x64xbf16>
  %s = linalg.fill ins(%f : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-error @+1 {{expected a slice of an operand or a gather, which can be in shared memory, got a value of type 'tensor<64x64xbf16>'}}
  %b = linalg.fill ins(%g : bf16) outs(%half : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  scf.forall (%i, %h) in (%n, 4) {
    %a = tensor.extract_slice %t[%i, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to tensor<64x64xbf16>
    %w = linalg.matmul ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>)
        outs(%s : tensor<64x64xf32>) -> tensor<64x64xf32>
  }
  return
}

// -----

func.func @not_padded(%x: memref<?x64xbf16>, %n: index, %f: f32) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%f : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %a = tensor.extract_slice %t[%i, 0] [64, %h] [1, 1] : tensor<?x64xbf16> to tensor<64x?xbf16>
    // expected-error @+1 {{a tile needs a static shape; pad it: 'tensor<?x64xbf16>'}}
    %b = tensor.extract_slice %t[%i, 0] [%h, 64] [1, 1] : tensor<?x64xbf16> to tensor<?x64xbf16>
    %w = linalg.matmul ins(%a, %b : tensor<64x?xbf16>, tensor<?x64xbf16>)
        outs(%s : tensor<64x64xf32>) -> tensor<64x64xf32>
  }
  return
}
