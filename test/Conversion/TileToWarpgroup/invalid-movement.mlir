// What cannot be brought into shared memory, or out of it.

// RUN: mla-opt %s -mla-tile-to-warpgroup -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -mla-tile-to-warpgroup -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 15

func.func @rows_of_a_tile(%x: memref<?x64xbf16>, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %nothing = arith.constant 0.0 : bf16
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, 0] [%count, 64] [1, 1] : tensor<?x64xbf16> to tensor<?x64xbf16>
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<?x64xbf16> to tensor<64x64xbf16>
    // expected-error @+1 {{'tensor.extract_slice' op has no home on a GPU: expected whole rows of a tile and a constant first column}}
    %u = tensor.extract_slice %p[8, 0] [32, 64] [1, 1] : tensor<64x64xbf16> to tensor<32x64xbf16>
  }
  return
}

// -----

func.func @some_columns(%x: memref<?x192xbf16>, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x192xbf16> to tensor<?x192xbf16>
  %nothing = arith.constant 0.0 : bf16
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, 0] [%count, 192] [1, 1] : tensor<?x192xbf16> to tensor<?x192xbf16>
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<?x192xbf16> to tensor<64x192xbf16>
    // expected-error @+1 {{'tensor.extract_slice' op has no home on a GPU: expected whole rows of a tile and a constant first column}}
    %u = tensor.extract_slice %p[0, %h] [64, 64] [1, 1] : tensor<64x192xbf16> to tensor<64x64xbf16>
  }
  return
}

// -----

func.func @last_rows(%n: index, %count: index, %a: f32) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%a : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %m = linalg.mul ins(%s, %s : tensor<64x64xf32>, tensor<64x64xf32>)
        outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
    // expected-error @+1 {{'tensor.extract_slice' op has no home on a GPU: expected the first rows of a tile in registers}}
    %u = tensor.extract_slice %m[8, 0] [%count, 64] [1, 1] : tensor<64x64xf32> to tensor<?x64xf32>
  }
  return
}

// -----

func.func @pad_before(%x: memref<?x64xbf16>, %n: index, %count: index, %low: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %nothing = arith.constant 0.0 : bf16
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, 0] [%count, 64] [1, 1] : tensor<?x64xbf16> to tensor<?x64xbf16>
    // expected-error @+1 {{'tensor.pad' op has no home on a GPU: expected rows of an operand, padded with zero rows at the end}}
    %p = tensor.pad %s low[%low, 0] high[0, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<?x64xbf16> to tensor<64x64xbf16>
  }
  return
}

// -----

func.func @pad_columns(%x: memref<?x64xbf16>, %n: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %nothing = arith.constant 0.0 : bf16
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, 0] [64, 48] [1, 1] : tensor<?x64xbf16> to tensor<64x48xbf16>
    // expected-error @+1 {{'tensor.pad' op has no home on a GPU: expected rows of an operand, padded with zero rows at the end}}
    %p = tensor.pad %s low[0, 0] high[0, 16] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<64x48xbf16> to tensor<64x64xbf16>
  }
  return
}

// -----

func.func @pad_with_ones(%x: memref<?x64xbf16>, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %one = arith.constant 1.0 : bf16
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, 0] [%count, 64] [1, 1] : tensor<?x64xbf16> to tensor<?x64xbf16>
    // expected-error @+1 {{'tensor.pad' op has no home on a GPU: expected rows of an operand, padded with zero rows at the end}}
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %one : bf16
    } : tensor<?x64xbf16> to tensor<64x64xbf16>
  }
  return
}

// -----

func.func @pad_width(%x: memref<?x24xbf16>, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x24xbf16> to tensor<?x24xbf16>
  %nothing = arith.constant 0.0 : bf16
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, 0] [%count, 24] [1, 1] : tensor<?x24xbf16> to tensor<?x24xbf16>
    // expected-error @+1 {{'tensor.pad' op tile: expected a multiple of 16 columns, got 24}}
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<?x24xbf16> to tensor<64x24xbf16>
  }
  return
}

// -----

func.func @pad_element(%x: memref<?x64xf32>, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %nothing = arith.constant 0.0 : f32
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, 0] [%count, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
    // expected-error @+1 {{'tensor.pad' op tile: expected elements of bf16 or f16, got 'f32'}}
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : f32
    } : tensor<?x64xf32> to tensor<64x64xf32>
  }
  return
}

// -----

func.func @gather_element(%cache: memref<?x1x?x64x1x576xbf16>, %table: memref<?x?xi32>, %n: index) {
  %c = bufferization.to_tensor %cache restrict
      : memref<?x1x?x64x1x576xbf16> to tensor<?x1x?x64x1x576xbf16>
  %t = bufferization.to_tensor %table restrict : memref<?x?xi32> to tensor<?x?xi32>
  %empty = tensor.empty() : tensor<64x64xf32>
  scf.forall (%i, %p) in (%n, 4) {
    // expected-error @+1 {{'mla.gather_pages' op tile: expected elements of bf16 or f16, got 'f32'}}
    %r = mla.gather_pages %c[layer %i, column 0] through %t[%i] rows(%p, %n) outs(%empty)
        : tensor<?x1x?x64x1x576xbf16>, tensor<?x?xi32>, tensor<64x64xf32> -> tensor<64x64xf32>
  }
  return
}

// -----

// Tensors that are no memory: a function's own argument.
// expected-error @+1 {{a GPU reads memrefs: expected a tensor that is bufferization.to_tensor of one, got 'tensor<?x64xbf16>'}}
func.func @no_memory(%x: tensor<?x64xbf16>, %n: index) {
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %x[%i, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to tensor<64x64xbf16>
  }
  return
}

// -----

// An operand is not written to anywhere but in its own memory.
func.func @copy(%x: memref<?x64xf32>, %out: memref<?x64xf32>, %n: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %ot = bufferization.to_tensor %out restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  %r = scf.forall (%i, %h) in (%n, 4) shared_outs(%o = %ot) -> (tensor<?x64xf32>) {
    %s = tensor.extract_slice %t[%i, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
    scf.forall.in_parallel {
      // expected-error @+1 {{'tensor.parallel_insert_slice' op has no home on a GPU: it reads 'tensor<64x64xf32>' in registers, but that is not computed there; use it as an operand of a contraction}}
      tensor.parallel_insert_slice %s into %o[%i, 0] [64, 64] [1, 1]
          : tensor<64x64xf32> into tensor<?x64xf32>
    }
  }
  return
}

// -----

func.func @extent(%x: memref<?x64xbf16>, %n: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %c0 = arith.constant 0 : index
  scf.forall (%i, %h) in (%n, 4) {
    // expected-error @+1 {{'tensor.dim' op has no home on a GPU: no rule makes a tile in shared memory or registers of it}}
    %d = tensor.dim %t, %c0 : tensor<?x64xbf16>
  }
  return
}

// -----

func.func @insertion_inside(%n: index, %a: f32) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%a : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    // expected-error @+1 {{'tensor.insert_slice' op has no home on a GPU: no rule makes a tile in shared memory or registers of it}}
    %w = tensor.insert_slice %s into %s[0, 0] [64, 64] [1, 1]
        : tensor<64x64xf32> into tensor<64x64xf32>
  }
  return
}

// -----

// A loop carries what is in registers, no tile in shared memory.
func.func @loop(%x: memref<?x64xbf16>, %n: index, %c0: index, %c1: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to tensor<64x64xbf16>
    // expected-error @+1 {{'scf.for' op has no home on a GPU: it reads 'tensor<64x64xbf16>' in registers, but that is not computed there; use it as an operand of a contraction}}
    %w = scf.for %k = %c0 to %n step %c1 iter_args(%p = %s) -> (tensor<64x64xbf16>) {
      scf.yield %p : tensor<64x64xbf16>
    }
  }
  return
}

// -----

func.func @branch(%n: index, %a: f32, %cond: i1) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%a : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    // expected-error @+1 {{'scf.if' op has no home on a GPU: no rule makes a tile in shared memory or registers of it}}
    %w = scf.if %cond -> (tensor<64x64xf32>) {
      scf.yield %s : tensor<64x64xf32>
    } else {
      scf.yield %s : tensor<64x64xf32>
    }
  }
  return
}
