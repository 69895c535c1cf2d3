// MLA-V4 to V7: what extents have to do with each other. One case per message.

// RUN: mla-opt %s -split-input-file -verify-diagnostics
// Without the switch the tool fails, with as many errors.
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 21

// MLA-V4: the width of q.
func.func @f(%q: tensor<?x2x?xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V4: 'q': expected a static, positive last extent, got 'tensor<?x2x?xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x?xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V4: the width of v.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x0xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V4: 'v': expected a static, positive last extent, got 'tensor<?x2x0xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x0xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V4: the width of k_rope.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x?xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V4: 'k_rope': expected a static, positive last extent, got 'tensor<?x?xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x?xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V4: the width of kv_blocks.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %cache: tensor<?x1x?x16x1x?xf32>,
    %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %layer: i32, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V4: 'kv_blocks': expected a static, positive last extent, got 'tensor<?x1x?x16x1x?xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x1x?x16x1x?xf32>, tensor<?x?xi32>, tensor<?xi32>, i32,
         f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V4: the width of output.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x?xf32>) {
  // expected-error @+1 {{MLA-V4: 'output': expected a static, positive last extent, got 'tensor<?x2x?xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  return
}

// -----

// MLA-V4: the heads of q and k.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x1x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V4: heads: 'q' has 2, 'k' has 1}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x1x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V4: the heads of v and lse, around one that is not known.
func.func @f(%q: tensor<?x?x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x?x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x?x16xf32>, %lse: tensor<?x4xf32>) {
  // expected-error @+1 {{MLA-V4: heads: 'v' has 2, 'lse' has 4}}
  %0:2 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out, %lse)
      : (tensor<?x?x24xf32>, tensor<?xi32>, tensor<?x?x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x?x16xf32>, tensor<?x4xf32>) -> (tensor<?x?x16xf32>, tensor<?x4xf32>)
  return
}

// -----

// MLA-V5: no rope columns in q.
func.func @f(%q: tensor<?x2x16xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V5: expected 'q' to be wider than 'k', got 16 and 16 columns}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x16xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V5: rope columns of the cache.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %cache: tensor<?x1x?x16x1x4xf32>,
    %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %layer: i32, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V5: 'kv_blocks': expected rows of at least 8 columns, got 4}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x1x?x16x1x4xf32>, tensor<?x?xi32>, tensor<?xi32>, i32,
         f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V5: rope columns of k_rope.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x16xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V5: 'k_rope': expected 8 columns, got 16}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x16xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V5: the width of the values.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x24xf32>) {
  // expected-error @+1 {{MLA-V5: value width: 'v' has 16, 'output' has 24}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x24xf32>) -> tensor<?x2x24xf32>
  return
}

// -----

// MLA-V6: query tokens.
func.func @f(%q: tensor<7x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<8x2x16xf32>) {
  // expected-error @+1 {{MLA-V6: query tokens: 'q' has 7, 'output' has 8}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<7x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<8x2x16xf32>) -> tensor<8x2x16xf32>
  return
}

// -----

// MLA-V6: query tokens of the normaliser.
func.func @f(%q: tensor<7x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>, %lse: tensor<8x2xf32>) {
  // expected-error @+1 {{MLA-V6: query tokens: 'q' has 7, 'lse' has 8}}
  %0:2 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out, %lse)
      : (tensor<7x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>, tensor<8x2xf32>) -> (tensor<?x2x16xf32>, tensor<8x2xf32>)
  return
}

// -----

// MLA-V6: buffer rows.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<7x2x16xf32>,
    %v: tensor<8x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V6: buffer rows: 'k' has 7, 'v' has 8}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<7x2x16xf32>, tensor<8x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V6: buffer rows of the rope.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<8x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<9x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V6: buffer rows: 'v' has 8, 'k_rope' has 9}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<8x2x16xf32>,
         tensor<?xi32>, tensor<9x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V6: sequences: n + 1 offsets.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<3xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<4xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V6: sequences: 'input_row_offsets' has 2, 'buffer_row_offsets' has 3}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<3xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<4xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V6: sequences of the table.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<3xi32>, %cache: tensor<?x1x?x16x1x40xf32>,
    %table: tensor<3x?xi32>, %lengths: tensor<?xi32>, %layer: i32, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V6: sequences: 'buffer_row_offsets' has 2, 'lookup_table' has 3}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<3xi32>, tensor<?x1x?x16x1x40xf32>, tensor<3x?xi32>, tensor<?xi32>, i32,
         f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V6: sequences of the lengths.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<3xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>,
    %lengths: tensor<3xi32>, %scale: f32, %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V6: sequences: 'input_row_offsets' has 2, 'cache_lengths' has 3}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) rope(%rope, %lengths) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<3xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, tensor<3xi32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V7: extent 1 of the cache.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %cache: tensor<?x2x?x16x1x40xf32>,
    %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %layer: i32, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V7: 'kv_blocks': expected extent 1 to be 1, got 'tensor<?x2x?x16x1x40xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x2x?x16x1x40xf32>, tensor<?x?xi32>, tensor<?xi32>, i32,
         f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V7: extent 4 of the cache.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %cache: tensor<?x1x?x16x8x40xf32>,
    %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %layer: i32, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V7: 'kv_blocks': expected extent 4 to be 1, got 'tensor<?x1x?x16x8x40xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x1x?x16x8x40xf32>, tensor<?x?xi32>, tensor<?xi32>, i32,
         f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}

// -----

// MLA-V7: extent 1 of the cache, not known.
func.func @f(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %cache: tensor<?x?x?x16x1x40xf32>,
    %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %layer: i32, %scale: f32,
    %out: tensor<?x2x16xf32>) {
  // expected-error @+1 {{MLA-V7: 'kv_blocks': expected extent 1 to be 1, got 'tensor<?x?x?x16x1x40xf32>'}}
  %0 = mla.prefill #mla.null queries(%q, %iro)
      keys(%k, %v, %bro) pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x?x?x16x1x40xf32>, tensor<?x?xi32>, tensor<?xi32>, i32,
         f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return
}
