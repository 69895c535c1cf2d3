// Both expansions come before bufferization.

// RUN: mla-opt %s -mla-expand-locate -mla-expand-gather -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -mla-expand-locate -mla-expand-gather -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 2

func.func @locate(%item: index, %offsets: memref<?xi32>) -> index {
  // expected-error @+1 {{expected tensors; expand before bufferization}}
  %a:3 = mla.locate %item in %offsets tile 16 : memref<?xi32>
  return %a#0 : index
}

// -----

func.func @gather(%cache: memref<?x1x?x16x1x40xf32>, %table: memref<?x?xi32>,
    %i: index, %dest: memref<32x8xf32>) {
  // expected-error @+1 {{expected tensors; expand before bufferization}}
  mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : memref<?x1x?x16x1x40xf32>, memref<?x?xi32>, memref<32x8xf32>
  return
}
