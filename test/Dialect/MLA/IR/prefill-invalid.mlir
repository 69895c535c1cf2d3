// The verifier's rules but for extents, one case per message, each named by its label.

// RUN: mla-opt %s -split-input-file -verify-diagnostics
// Without the switch the tool fails, with as many errors.
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 40

// MLA-V1: a memref among tensors.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: memref<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V1: 'k': expected a tensor as 'q', got 'memref<?x2x16xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, memref<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V1: a tensor among memrefs.
func.func @f(%q: memref<?x2x24xf32>, %iro: tensor<?xi32>, %k: memref<?x2x16xf32>,
    %v: memref<?x2x16xf32>, %bro: memref<?xi32>, %rope: memref<?x8xf32>, %scale: f32,
    %out: memref<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V1: 'input_row_offsets': expected a memref as 'q', got 'tensor<?xi32>'}}
  mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (memref<?x2x24xf32>, tensor<?xi32>, memref<?x2x16xf32>, memref<?x2x16xf32>,
         memref<?xi32>, memref<?x8xf32>, f32, memref<?x2x16xf32>) -> ()
  return
}

// -----

// MLA-V1: the mask's parameters count, too.
func.func @f(%w: memref<?xi32>, %q: tensor<?x2x24xf32>, %iro: tensor<?xi32>,
    %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>,
    %rope: tensor<?x8xf32>, %scale: f32, %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V1: 'mask_parameters': expected a tensor as 'q', got 'memref<?xi32>'}}
  %0 = mla.prefill #mla.chunked parameters(%w) queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (memref<?xi32>, tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>,
         tensor<?x2x16xf32>, tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V1: a destination without its result.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>, %lse: tensor<?x2xf32>) {
  // expected-error @+1 {{MLA-V1: expected 2 results, got 1}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out, %lse)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>, tensor<?x2xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V1: a result without its destination.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V1: expected 1 results, got 2}}
  %0:2 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> (tensor<?x2x16xf32>, tensor<?x2xf32>)
  return
}

// -----

// MLA-V1: memrefs have no result.
func.func @f(%q: memref<?x2x24xf32>, %iro: memref<?xi32>, %k: memref<?x2x16xf32>,
    %v: memref<?x2x16xf32>, %bro: memref<?xi32>, %rope: memref<?x8xf32>, %scale: f32,
    %out: memref<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V1: expected 0 results, got 1}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (memref<?x2x24xf32>, memref<?xi32>, memref<?x2x16xf32>, memref<?x2x16xf32>,
         memref<?xi32>, memref<?x8xf32>, f32, memref<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V1: a result of another type than its destination.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V1: expected a result of type 'tensor<?x2x16xf32>' as its destination, got 'tensor<8x2x16xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<8x2x16xf32>
  return
}

// -----

// MLA-V2: the rank of q.
func.func @f(%q: tensor<?x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V2: 'q': expected rank 3, got 'tensor<?x24xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V2: the rank of k.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V2: 'k': expected rank 3, got 'tensor<2x16xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V2: the rank of v.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x4x4xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V2: 'v': expected rank 3, got 'tensor<?x2x4x4xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x4x4xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V2: the rank of kv_blocks.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %cache: tensor<?x?x16x40xf32>,
    %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %layer: i32, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V2: 'kv_blocks': expected rank 6, got 'tensor<?x?x16x40xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x?x16x40xf32>, tensor<?x?xi32>, tensor<?xi32>, i32, f32,
         tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V2: the rank of k_rope.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x1x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V2: 'k_rope': expected rank 2, got 'tensor<?x1x8xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x1x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V2: the rank of output.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x32xf32>) {
  // expected-error @+1 {{MLA-V2: 'output': expected rank 3, got 'tensor<?x32xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

// MLA-V2: the rank of lse.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>, %lse: tensor<?xf32>) {
  // expected-error @+1 {{MLA-V2: 'lse': expected rank 2, got 'tensor<?xf32>'}}
  %0:2 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out, %lse)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>, tensor<?xf32>) -> (tensor<?x2x16xf32>, tensor<?xf32>)
  return
}

// -----

// MLA-V3: a type that is not supported yet.
func.func @f(%q: tensor<?x2x24xf8E4M3FN>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V3: 'q': f8E4M3FN is not supported yet}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf8E4M3FN>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V3: the element type of k.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf64>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V3: 'k': expected bf16, f16 or f32, got 'f64'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf64>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V3: the element type of k_rope.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xi32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V3: 'k_rope': expected bf16, f16 or f32, got 'i32'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xi32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V3: the element type of output.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf64>) {
  // expected-error @+1 {{MLA-V3: 'output': expected bf16, f16 or f32, got 'f64'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf64>) -> tensor<?x2x16xf64>
  return
}

// -----

// MLA-V3: the element type of kv_blocks.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %cache: tensor<?x1x?x16x1x40xf8E5M2>,
    %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %layer: i32, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V3: 'kv_blocks': expected bf16, f16 or f32, got 'f8E5M2'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x1x?x16x1x40xf8E5M2>, tensor<?x?xi32>, tensor<?xi32>,
         i32, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V3: the normaliser is f32.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>, %lse: tensor<?x2xbf16>) {
  // expected-error @+1 {{MLA-V3: 'lse': expected f32, got 'bf16'}}
  %0:2 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out, %lse)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>, tensor<?x2xbf16>) -> (tensor<?x2x16xf32>, tensor<?x2xbf16>)
  return
}

// -----

// MLA-V3: q and k agree.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xbf16>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V3: 'k': expected 'f32' as 'q', got 'bf16'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xbf16>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V3: q and v agree.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xbf16>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V3: 'v': expected 'f32' as 'q', got 'bf16'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xbf16>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V8: no rope at all.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V8: expected either kv_blocks, lookup_table, cache_lengths and layer_idx, or k_rope}}
  %0 = "mla.prefill"(%q, %iro, %k, %v, %bro, %scale, %out)
      <{mask = #mla.null,
        operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0>}>
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V8: both groups.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %cache: tensor<?x1x?x16x1x40xf32>,
    %table: tensor<?x?xi32>, %rope: tensor<?x8xf32>, %lengths: tensor<?xi32>,
    %layer: i32, %scale: f32, %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V8: expected either kv_blocks, lookup_table, cache_lengths and layer_idx, or k_rope}}
  %0 = "mla.prefill"(%q, %iro, %k, %v, %bro, %cache, %table, %rope, %lengths, %layer, %scale, %out)
      <{mask = #mla.null,
        operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0>}>
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<?x8xf32>,
         tensor<?xi32>, i32, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V8: pages without a table.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %cache: tensor<?x1x?x16x1x40xf32>,
    %lengths: tensor<?xi32>, %layer: i32, %scale: f32, %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V8: expected either kv_blocks, lookup_table, cache_lengths and layer_idx, or k_rope}}
  %0 = "mla.prefill"(%q, %iro, %k, %v, %bro, %cache, %lengths, %layer, %scale, %out)
      <{mask = #mla.null,
        operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 0>}>
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x1x?x16x1x40xf32>, tensor<?xi32>, i32, f32,
         tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V8: pages without lengths.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %cache: tensor<?x1x?x16x1x40xf32>,
    %table: tensor<?x?xi32>, %layer: i32, %scale: f32, %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V8: expected either kv_blocks, lookup_table, cache_lengths and layer_idx, or k_rope}}
  %0 = "mla.prefill"(%q, %iro, %k, %v, %bro, %cache, %table, %layer, %scale, %out)
      <{mask = #mla.null,
        operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0>}>
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, i32, f32,
         tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V8: pages without a layer.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %cache: tensor<?x1x?x16x1x40xf32>,
    %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V8: expected either kv_blocks, lookup_table, cache_lengths and layer_idx, or k_rope}}
  %0 = "mla.prefill"(%q, %iro, %k, %v, %bro, %cache, %table, %lengths, %scale, %out)
      <{mask = #mla.null,
        operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0>}>
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<?xi32>, f32,
         tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V8: a layer of a ragged rope.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %layer: i32,
    %scale: f32, %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V8: expected either kv_blocks, lookup_table, cache_lengths and layer_idx, or k_rope}}
  %0 = "mla.prefill"(%q, %iro, %k, %v, %bro, %rope, %layer, %scale, %out)
      <{mask = #mla.null,
        operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 0>}>
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, i32, f32,
         tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V9: a parameter for a mask without.
func.func @f(%w: i32, %q: tensor<?x2x24xf32>, %iro: tensor<?xi32>,
    %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>,
    %rope: tensor<?x8xf32>, %scale: f32, %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V9: #mla.causal takes 0 parameters, got 1}}
  %0 = mla.prefill #mla.causal parameters(%w) queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (i32, tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V9: a window mask without its window.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V9: #mla.sliding_window_causal takes 1 parameters, got 0}}
  %0 = mla.prefill #mla.sliding_window_causal queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V10: the last stride of q.
func.func @f(%q: memref<?x2x24xf32, strided<[48, 1, 2]>>, %iro: memref<?xi32>,
    %k: memref<?x2x16xf32>, %v: memref<?x2x16xf32>, %bro: memref<?xi32>,
    %rope: memref<?x8xf32>, %scale: f32, %out: memref<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V10: 'q': expected a last dimension of stride 1, got 'memref<?x2x24xf32, strided<[48, 1, 2]>>'}}
  mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (memref<?x2x24xf32, strided<[48, 1, 2]>>, memref<?xi32>, memref<?x2x16xf32>,
         memref<?x2x16xf32>, memref<?xi32>, memref<?x8xf32>, f32, memref<?x2x16xf32>) -> ()
  return
}

// -----

// MLA-V10: the last stride of v.
func.func @f(%q: memref<?x2x24xf32>, %iro: memref<?xi32>, %k: memref<?x2x16xf32>,
    %v: memref<?x2x16xf32, strided<[?, ?, ?], offset: ?>>, %bro: memref<?xi32>,
    %rope: memref<?x8xf32>, %scale: f32, %out: memref<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V10: 'v': expected a last dimension of stride 1, got 'memref<?x2x16xf32, strided<[?, ?, ?], offset: ?>>'}}
  mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (memref<?x2x24xf32>, memref<?xi32>, memref<?x2x16xf32>,
         memref<?x2x16xf32, strided<[?, ?, ?], offset: ?>>, memref<?xi32>,
         memref<?x8xf32>, f32, memref<?x2x16xf32>) -> ()
  return
}

// -----

// MLA-V10: the last stride of kv_blocks.
func.func @f(%q: memref<?x2x24xf32>, %iro: memref<?xi32>, %k: memref<?x2x16xf32>,
    %v: memref<?x2x16xf32>, %bro: memref<?xi32>,
    %cache: memref<?x1x?x16x1x40xf32, strided<[?, ?, ?, ?, ?, 2]>>,
    %table: memref<?x?xi32>, %lengths: memref<?xi32>, %layer: i32, %scale: f32,
    %out: memref<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V10: 'kv_blocks': expected a last dimension of stride 1, got 'memref<?x1x?x16x1x40xf32, strided<[?, ?, ?, ?, ?, 2]>>'}}
  mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (memref<?x2x24xf32>, memref<?xi32>, memref<?x2x16xf32>, memref<?x2x16xf32>,
         memref<?xi32>, memref<?x1x?x16x1x40xf32, strided<[?, ?, ?, ?, ?, 2]>>,
         memref<?x?xi32>, memref<?xi32>, i32, f32, memref<?x2x16xf32>) -> ()
  return
}

// -----

// MLA-V10: the last stride of output.
func.func @f(%q: memref<?x2x24xf32>, %iro: memref<?xi32>, %k: memref<?x2x16xf32>,
    %v: memref<?x2x16xf32>, %bro: memref<?xi32>, %rope: memref<?x8xf32>, %scale: f32,
    %out: memref<?x2x16xf32, strided<[64, 32, 2]>>) {
  // expected-error @+1 {{MLA-V10: 'output': expected a last dimension of stride 1, got 'memref<?x2x16xf32, strided<[64, 32, 2]>>'}}
  mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (memref<?x2x24xf32>, memref<?xi32>, memref<?x2x16xf32>, memref<?x2x16xf32>,
         memref<?xi32>, memref<?x8xf32>, f32, memref<?x2x16xf32, strided<[64, 32, 2]>>) -> ()
  return
}

// -----

// Types: an operand's own constraint: offsets are 32-bit.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi64>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{op operand #1 must be 1-D tensor or memref of i32 or ui32, but got 'tensor<?xi64>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi64>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// Types: a layer is an integer scalar.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %cache: tensor<?x1x?x16x1x40xf32>,
    %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %layer: i16, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{must be i32, ui32, i64 or index, but got 'i16'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<?xi32>, i16,
         f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// Types: a window is an integer, or one for each sequence.
func.func @f(%w: f32, %q: tensor<?x2x24xf32>, %iro: tensor<?xi32>,
    %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>,
    %rope: tensor<?x8xf32>, %scale: f32, %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{must be variadic of integer scalar, or one integer per sequence, but got 'f32'}}
  %0 = mla.prefill #mla.chunked parameters(%w) queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (f32, tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// Types: tensors have a rank.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<*xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{must be ranked tensor or memref, but got 'tensor<*xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<*xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// Syntax: the rope comes from one of two groups.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>) {
  // expected-error @+1 {{expected 'pages' or 'rope'}}
  %0 = mla.prefill #mla.null queries(%q, %iro) keys(%q, %q, %iro) cache(%q)
}

// -----

// Syntax: a mask is an attribute that implements MaskAttrInterface.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>) {
  // expected-error @+1 {{invalid kind of attribute specified}}
  %0 = mla.prefill 7 : i32 queries(%q, %iro) keys(%q, %q, %iro) rope(%q)
}
