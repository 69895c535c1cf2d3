// RUN: mla-opt %s -canonicalize | FileCheck %s

!q = tensor<?x2x24xf32>
!kv = tensor<?x2x16xf32>
!vec = tensor<?xi32>

// Four pages of 16 tokens: no key is further than 63 from its query.
// CHECK-LABEL: func.func @window_covers_pages
// CHECK: mla.prefill #mla.causal queries
// CHECK: mla.prefill #mla.null queries
func.func @window_covers_pages(%q: !q, %iro: !vec, %k: !kv, %bro: !vec,
    %cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x4xi32>, %lengths: !vec,
    %layer: i32, %scale: f32, %out: !kv) -> !kv {
  %w = arith.constant 64 : i32
  %0 = mla.prefill #mla.sliding_window_causal parameters(%w)
      queries(%q, %iro) keys(%k, %k, %bro) pages(%cache, %table, %lengths, %layer)
      scale(%scale) outs(%out)
      : (i32, !q, !vec, !kv, !kv, !vec, tensor<?x1x?x16x1x40xf32>, tensor<?x4xi32>,
         !vec, i32, f32, !kv) -> !kv
  %1 = mla.prefill #mla.sliding_window_noncausal parameters(%w)
      queries(%q, %iro) keys(%k, %k, %bro) pages(%cache, %table, %lengths, %layer)
      scale(%scale) outs(%0)
      : (i32, !q, !vec, !kv, !kv, !vec, tensor<?x1x?x16x1x40xf32>, tensor<?x4xi32>,
         !vec, i32, f32, !kv) -> !kv
  return %1 : !kv
}

// One less does not cover it.
// CHECK-LABEL: func.func @window_too_small
// CHECK: mla.prefill #mla.sliding_window_causal parameters(%c63
func.func @window_too_small(%q: !q, %iro: !vec, %k: !kv, %bro: !vec,
    %cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x4xi32>, %lengths: !vec,
    %layer: i32, %scale: f32, %out: !kv) -> !kv {
  %w = arith.constant 63 : i32
  %0 = mla.prefill #mla.sliding_window_causal parameters(%w)
      queries(%q, %iro) keys(%k, %k, %bro) pages(%cache, %table, %lengths, %layer)
      scale(%scale) outs(%out)
      : (i32, !q, !vec, !kv, !kv, !vec, tensor<?x1x?x16x1x40xf32>, tensor<?x4xi32>,
         !vec, i32, f32, !kv) -> !kv
  return %0 : !kv
}

// A dynamic table may name any number of pages; a page may hold any number of
// tokens; a window that is an argument may be anything.
// CHECK-LABEL: func.func @context_not_known
// CHECK-COUNT-3: mla.prefill #mla.sliding_window_causal parameters(
func.func @context_not_known(%q: !q, %iro: !vec, %k: !kv, %bro: !vec,
    %cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %cache2: tensor<?x1x?x?x1x40xf32>, %table2: tensor<?x4xi32>, %arg: i32,
    %lengths: !vec, %layer: i32, %scale: f32, %out: !kv) -> !kv {
  %w = arith.constant 1000000 : i32
  %0 = mla.prefill #mla.sliding_window_causal parameters(%w)
      queries(%q, %iro) keys(%k, %k, %bro) pages(%cache, %table, %lengths, %layer)
      scale(%scale) outs(%out)
      : (i32, !q, !vec, !kv, !kv, !vec, tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>,
         !vec, i32, f32, !kv) -> !kv
  %1 = mla.prefill #mla.sliding_window_causal parameters(%w)
      queries(%q, %iro) keys(%k, %k, %bro) pages(%cache2, %table2, %lengths, %layer)
      scale(%scale) outs(%0)
      : (i32, !q, !vec, !kv, !kv, !vec, tensor<?x1x?x?x1x40xf32>, tensor<?x4xi32>,
         !vec, i32, f32, !kv) -> !kv
  %2 = mla.prefill #mla.sliding_window_causal parameters(%arg)
      queries(%q, %iro) keys(%k, %k, %bro) pages(%cache, %table2, %lengths, %layer)
      scale(%scale) outs(%1)
      : (i32, !q, !vec, !kv, !kv, !vec, tensor<?x1x?x16x1x40xf32>, tensor<?x4xi32>,
         !vec, i32, f32, !kv) -> !kv
  return %2 : !kv
}

// Aligned to the end of the keys (MLA-R4) all context is in the buffer; with
// lengths, queries may stand behind it.
// CHECK-LABEL: func.func @window_covers_buffer
// CHECK: mla.prefill #mla.causal queries
// CHECK: mla.prefill #mla.sliding_window_causal parameters(
func.func @window_covers_buffer(%q: !q, %iro: !vec, %k: tensor<32x2x16xf32>,
    %bro: !vec, %rope: tensor<32x8xf32>, %lengths: !vec, %scale: f32, %out: !kv) -> !kv {
  %w = arith.constant 32 : index
  %0 = mla.prefill #mla.sliding_window_causal parameters(%w)
      queries(%q, %iro) keys(%k, %k, %bro) rope(%rope) scale(%scale) outs(%out)
      : (index, !q, !vec, tensor<32x2x16xf32>, tensor<32x2x16xf32>, !vec,
         tensor<32x8xf32>, f32, !kv) -> !kv
  %1 = mla.prefill #mla.sliding_window_causal parameters(%w)
      queries(%q, %iro) keys(%k, %k, %bro) rope(%rope, %lengths) scale(%scale) outs(%0)
      : (index, !q, !vec, tensor<32x2x16xf32>, tensor<32x2x16xf32>, !vec,
         tensor<32x8xf32>, !vec, f32, !kv) -> !kv
  return %1 : !kv
}

// CHECK-LABEL: func.func @zero_cache_offsets
// CHECK-SAME: %[[CO:[a-z0-9]+]]: tensor<2xi32>
// CHECK: keys(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}) rope
// CHECK: keys(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %[[CO]]) rope
// CHECK: keys(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %cst{{[a-z0-9_]*}}) rope
func.func @zero_cache_offsets(%q: !q, %iro: !vec, %k: !kv, %bro: !vec,
    %rope: tensor<?x8xf32>, %co: tensor<2xi32>, %scale: f32, %out: !kv) -> !kv {
  %zeros = arith.constant dense<0> : tensor<2xi32>
  %some = arith.constant dense<[0, 16]> : tensor<2xi32>
  %0 = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %k, %bro, %zeros)
      rope(%rope) scale(%scale) outs(%out)
      : (!q, !vec, !kv, !kv, !vec, tensor<2xi32>, tensor<?x8xf32>, f32, !kv) -> !kv
  %1 = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %k, %bro, %co)
      rope(%rope) scale(%scale) outs(%0)
      : (!q, !vec, !kv, !kv, !vec, tensor<2xi32>, tensor<?x8xf32>, f32, !kv) -> !kv
  %2 = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %k, %bro, %some)
      rope(%rope) scale(%scale) outs(%1)
      : (!q, !vec, !kv, !kv, !vec, tensor<2xi32>, tensor<?x8xf32>, f32, !kv) -> !kv
  return %2 : !kv
}

// Upstream's pattern for destination-style ops: what a caller knows of extents
// reaches the op.
// CHECK-LABEL: func.func @casts
// CHECK: %[[O:.*]] = mla.prefill #mla.causal
// CHECK-SAME: : (tensor<7x2x24xf32>, tensor<2xi32>, {{.*}}, tensor<7x2x16xf32>) -> tensor<7x2x16xf32>
// CHECK: tensor.cast %[[O]] : tensor<7x2x16xf32> to tensor<?x2x16xf32>
func.func @casts(%q: tensor<7x2x24xf32>, %iro: tensor<2xi32>, %k: !kv, %bro: !vec,
    %rope: tensor<?x8xf32>, %scale: f32, %out: tensor<7x2x16xf32>) -> !kv {
  %q1 = tensor.cast %q : tensor<7x2x24xf32> to !q
  %iro1 = tensor.cast %iro : tensor<2xi32> to !vec
  %out1 = tensor.cast %out : tensor<7x2x16xf32> to !kv
  %0 = mla.prefill #mla.causal queries(%q1, %iro1) keys(%k, %k, %bro)
      rope(%rope) scale(%scale) outs(%out1)
      : (!q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  return %0 : !kv
}
