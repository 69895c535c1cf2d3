// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 15

func.func @mixed_table(%cache: tensor<?x1x?x16x1x40xf32>, %table: memref<?x?xi32>,
    %i: index, %dest: tensor<32x8xf32>) {
  // expected-error @+1 {{expected all tensors or all memrefs, got 'tensor<?x1x?x16x1x40xf32>' and 'memref<?x?xi32>'}}
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, memref<?x?xi32>, tensor<32x8xf32> -> tensor<32x8xf32>
  return
}

// -----

func.func @mixed_dest(%cache: memref<?x1x?x16x1x40xf32>, %table: memref<?x?xi32>,
    %i: index, %dest: tensor<32x8xf32>) {
  // expected-error @+1 {{expected all tensors or all memrefs, got 'memref<?x1x?x16x1x40xf32>' and 'tensor<32x8xf32>'}}
  mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : memref<?x1x?x16x1x40xf32>, memref<?x?xi32>, tensor<32x8xf32>
  return
}

// -----

func.func @no_result(%cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<32x8xf32>) {
  // expected-error @+1 {{expected one result of the destination's type}}
  mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<32x8xf32>
  return
}

// -----

func.func @other_result(%cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<32x8xf32>) {
  // expected-error @+1 {{expected one result of the destination's type}}
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<32x8xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @memref_result(%cache: memref<?x1x?x16x1x40xf32>, %table: memref<?x?xi32>,
    %i: index, %dest: memref<32x8xf32>) {
  // expected-error @+1 {{expected no result on memrefs}}
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : memref<?x1x?x16x1x40xf32>, memref<?x?xi32>, memref<32x8xf32> -> tensor<32x8xf32>
  return
}

// -----

func.func @cache_rank(%cache: tensor<?x?x16x40xf32>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<32x8xf32>) {
  // expected-error @+1 {{'cache': expected rank 6, got 'tensor<?x?x16x40xf32>'}}
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x?x16x40xf32>, tensor<?x?xi32>, tensor<32x8xf32> -> tensor<32x8xf32>
  return
}

// -----

func.func @dest_rank(%cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<32x1x8xf32>) {
  // expected-error @+1 {{'dest': expected rank 2 and a static width, got 'tensor<32x1x8xf32>'}}
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<32x1x8xf32> -> tensor<32x1x8xf32>
  return
}

// -----

func.func @dest_width(%cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<32x?xf32>) {
  // expected-error @+1 {{'dest': expected rank 2 and a static width, got 'tensor<32x?xf32>'}}
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<32x?xf32> -> tensor<32x?xf32>
  return
}

// -----

func.func @columns(%cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<32x8xf32>) {
  // expected-error @+1 {{'column': expected 8 columns from 33 to lie inside the cache's row, got 'tensor<?x1x?x16x1x40xf32>'}}
  %r = mla.gather_pages %cache[layer %i, column 33] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<32x8xf32> -> tensor<32x8xf32>
  return
}

// -----

func.func @no_columns(%cache: tensor<?x1x?x16x1x?xf32>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<32x8xf32>) {
  // expected-error @+1 {{'column': expected 8 columns from 32 to lie inside the cache's row, got 'tensor<?x1x?x16x1x?xf32>'}}
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x?xf32>, tensor<?x?xi32>, tensor<32x8xf32> -> tensor<32x8xf32>
  return
}

// -----

func.func @negative_column(%cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<32x8xf32>) {
  // expected-error @+1 {{attribute 'column' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r = mla.gather_pages %cache[layer %i, column -1] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<32x8xf32> -> tensor<32x8xf32>
  return
}

// -----

func.func @narrower(%cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<32x8xbf16>) {
  // expected-error @+1 {{'dest': expected 'f32' or a wider float, got 'bf16'}}
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<32x8xbf16> -> tensor<32x8xbf16>
  return
}

// -----

func.func @other_half(%cache: tensor<?x1x?x16x1x40xf16>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<32x8xbf16>) {
  // expected-error @+1 {{'dest': expected 'f16' or a wider float, got 'bf16'}}
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf16>, tensor<?x?xi32>, tensor<32x8xbf16> -> tensor<32x8xbf16>
  return
}

// -----

func.func @integers(%cache: tensor<?x1x?x16x1x40xi32>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<32x8xi32>) {
  // expected-error @+1 {{'dest': expected 'i32' or a wider float, got 'i32'}}
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xi32>, tensor<?x?xi32>, tensor<32x8xi32> -> tensor<32x8xi32>
  return
}

// -----

func.func @table_rank(%cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?xi32>,
    %i: index, %dest: tensor<32x8xf32>) {
  // expected-error @+1 {{must be 2-D tensor or memref of i32 or ui32, but got 'tensor<?xi32>'}}
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?xi32>, tensor<32x8xf32> -> tensor<32x8xf32>
  return
}
