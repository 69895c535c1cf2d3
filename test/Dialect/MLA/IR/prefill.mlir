// Every form of mla.prefill parses, prints as it was written, and survives the
// generic form.

// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s
// RUN: mla-opt %s -emit-bytecode | mla-opt | FileCheck %s

!q = tensor<?x2x24xf32>
!kv = tensor<?x2x16xf32>
!vec = tensor<?xi32>
!cache = tensor<?x1x?x16x1x40xf32>
!table = tensor<?x?xi32>

// CHECK-LABEL: func.func @pages
// CHECK: %{{.*}} = mla.prefill #mla.causal queries(%{{.*}}, %{{.*}}) keys(%{{.*}}, %{{.*}}, %{{.*}}) pages(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) scale(%{{.*}}) outs(%{{.*}}) : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>, tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<?xi32>, i32, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
func.func @pages(%q: !q, %iro: !vec, %k: !kv, %v: !kv, %bro: !vec, %cache: !cache,
    %table: !table, %lengths: !vec, %layer: i32, %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (!q, !vec, !kv, !kv, !vec, !cache, !table, !vec, i32, f32, !kv) -> !kv
  return %o : !kv
}

// CHECK-LABEL: func.func @pages_cache_offsets_lse
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x2x24xf32>, %[[IRO:[a-z0-9]+]]: tensor<?xi32>, %[[K:[a-z0-9]+]]: tensor<?x2x16xf32>, %[[V:[a-z0-9]+]]: tensor<?x2x16xf32>, %[[BRO:[a-z0-9]+]]: tensor<?xi32>, %[[CO:[a-z0-9]+]]: tensor<?xi32>, %[[CACHE:[a-z0-9]+]]: tensor<?x1x?x16x1x40xf32>, %[[TABLE:[a-z0-9]+]]: tensor<?x?xi32>, %[[LENGTHS:[a-z0-9]+]]: tensor<?xi32>, %[[LAYER:[a-z0-9]+]]: i32, %[[SCALE:[a-z0-9]+]]: f32, %[[OUT:[a-z0-9]+]]: tensor<?x2x16xf32>, %[[LSE:[a-z0-9]+]]: tensor<?x2xf32>
// CHECK: %{{.*}}:2 = mla.prefill #mla.causal queries(%[[Q]], %[[IRO]]) keys(%[[K]], %[[V]], %[[BRO]], %[[CO]]) pages(%[[CACHE]], %[[TABLE]], %[[LENGTHS]], %[[LAYER]]) scale(%[[SCALE]]) outs(%[[OUT]], %[[LSE]]) :
// CHECK-SAME: -> (tensor<?x2x16xf32>, tensor<?x2xf32>)
func.func @pages_cache_offsets_lse(%q: !q, %iro: !vec, %k: !kv, %v: !kv, %bro: !vec,
    %co: !vec, %cache: !cache, %table: !table, %lengths: !vec, %layer: i32,
    %scale: f32, %out: !kv, %lse: tensor<?x2xf32>) -> (!kv, tensor<?x2xf32>) {
  %o:2 = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro, %co)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out, %lse)
      : (!q, !vec, !kv, !kv, !vec, !vec, !cache, !table, !vec, i32, f32, !kv,
         tensor<?x2xf32>) -> (!kv, tensor<?x2xf32>)
  return %o#0, %o#1 : !kv, tensor<?x2xf32>
}

// CHECK-LABEL: func.func @rope
// CHECK: mla.prefill #mla.null queries(%{{.*}}, %{{.*}}) keys(%{{.*}}, %{{.*}}, %{{.*}}) rope(%{{[a-z0-9]+}}) scale
func.func @rope(%q: !q, %iro: !vec, %k: !kv, %v: !kv, %bro: !vec,
    %rope: tensor<?x8xf32>, %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.null queries(%q, %iro) keys(%k, %v, %bro)
      rope(%rope) scale(%scale) outs(%out)
      : (!q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  return %o : !kv
}

// CHECK-LABEL: func.func @rope_lengths
// CHECK-SAME: %[[ROPE:[a-z0-9]+]]: tensor<?x8xf32>, %[[LENGTHS:[a-z0-9]+]]: tensor<?xi32>, %{{[a-z0-9]+}}: f32
// CHECK: keys(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) rope(%[[ROPE]], %[[LENGTHS]]) scale
func.func @rope_lengths(%q: !q, %iro: !vec, %k: !kv, %v: !kv, %bro: !vec, %co: !vec,
    %rope: tensor<?x8xf32>, %lengths: !vec, %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.null queries(%q, %iro) keys(%k, %v, %bro, %co)
      rope(%rope, %lengths) scale(%scale) outs(%out)
      : (!q, !vec, !kv, !kv, !vec, !vec, tensor<?x8xf32>, !vec, f32, !kv) -> !kv
  return %o : !kv
}

// Memrefs: no result. Strides are free, but for the last one. A static batch of
// unsigned index tensors; each float type of its own.
// CHECK-LABEL: func.func @memrefs
// CHECK: {{^ *}}mla.prefill #mla.causal queries
// CHECK-SAME: : (memref<32x4x24xbf16, strided<[?, ?, 1], offset: ?>>, memref<3xui32>, memref<64x4x16xbf16, strided<[128, 32, 1]>>, memref<64x4x16xbf16, strided<[128, 32, 1], offset: 16>>, memref<3xui32>, memref<3xui32>, memref<9x1x2x16x1x40xf32>, memref<2x5xui32>, memref<2xui32>, ui32, f32, memref<32x4x16xf16>, memref<32x4xf32, strided<[1, 32]>>) -> ()
func.func @memrefs(%q: memref<32x4x24xbf16, strided<[?, ?, 1], offset: ?>>,
    %offsets: memref<3xui32>, %k: memref<64x4x16xbf16, strided<[128, 32, 1]>>,
    %v: memref<64x4x16xbf16, strided<[128, 32, 1], offset: 16>>,
    %cache: memref<9x1x2x16x1x40xf32>, %table: memref<2x5xui32>,
    %lengths: memref<2xui32>, %layer: ui32, %scale: f32, %out: memref<32x4x16xf16>,
    %lse: memref<32x4xf32, strided<[1, 32]>>) {
  mla.prefill #mla.causal
      queries(%q, %offsets) keys(%k, %v, %offsets, %offsets)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out, %lse)
      : (memref<32x4x24xbf16, strided<[?, ?, 1], offset: ?>>, memref<3xui32>,
         memref<64x4x16xbf16, strided<[128, 32, 1]>>,
         memref<64x4x16xbf16, strided<[128, 32, 1], offset: 16>>, memref<3xui32>,
         memref<3xui32>, memref<9x1x2x16x1x40xf32>, memref<2x5xui32>,
         memref<2xui32>, ui32, f32, memref<32x4x16xf16>,
         memref<32x4xf32, strided<[1, 32]>>) -> ()
  return
}

// Heads may be dynamic; one table column, i64 and index layers.
// CHECK-LABEL: func.func @dynamic_heads
// CHECK-COUNT-2: mla.prefill #mla.causal
func.func @dynamic_heads(%q: tensor<?x?x24xf16>, %iro: !vec, %k: tensor<?x?x16xf16>,
    %bro: !vec, %cache: tensor<?x1x?x?x1x8xbf16>, %table: tensor<?x1xi32>,
    %lengths: !vec, %l64: i64, %lindex: index, %scale: f32,
    %out: tensor<?x?x16xf32>) -> tensor<?x?x16xf32> {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %k, %bro)
      pages(%cache, %table, %lengths, %l64) scale(%scale) outs(%out)
      : (tensor<?x?x24xf16>, !vec, tensor<?x?x16xf16>, tensor<?x?x16xf16>, !vec,
         tensor<?x1x?x?x1x8xbf16>, tensor<?x1xi32>, !vec, i64, f32,
         tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %p = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %k, %bro)
      pages(%cache, %table, %lengths, %lindex) scale(%scale) outs(%o)
      : (tensor<?x?x24xf16>, !vec, tensor<?x?x16xf16>, tensor<?x?x16xf16>, !vec,
         tensor<?x1x?x?x1x8xbf16>, tensor<?x1xi32>, !vec, index, f32,
         tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  return %p : tensor<?x?x16xf32>
}

// The window: any integer scalar, or one for each sequence.
// CHECK-LABEL: func.func @windows
// CHECK-SAME: %[[I32:[a-z0-9]+]]: i32, %[[UI32:[a-z0-9]+]]: ui32, %[[I64:[a-z0-9]+]]: i64, %[[INDEX:[a-z0-9]+]]: index, %[[EACH:[a-z0-9]+]]: tensor<?xi32>
// CHECK: mla.prefill #mla.sliding_window_causal parameters(%[[I32]]) queries({{.*}} : (i32, tensor
// CHECK: mla.prefill #mla.sliding_window_noncausal parameters(%[[UI32]]) queries({{.*}} : (ui32, tensor
// CHECK: mla.prefill #mla.chunked parameters(%[[I64]]) queries({{.*}} : (i64, tensor
// CHECK: mla.prefill #mla.chunked_causal parameters(%[[INDEX]]) queries({{.*}} : (index, tensor
// CHECK: mla.prefill #mla.chunked_causal parameters(%[[EACH]]) queries({{.*}} : (tensor<?xi32>, tensor
func.func @windows(%i32: i32, %ui32: ui32, %i64: i64, %index: index, %each: !vec,
    %q: !q, %iro: !vec, %k: !kv, %bro: !vec, %rope: tensor<?x8xf32>, %scale: f32,
    %out: !kv) -> !kv {
  %0 = mla.prefill #mla.sliding_window_causal parameters(%i32)
      queries(%q, %iro) keys(%k, %k, %bro) rope(%rope) scale(%scale) outs(%out)
      : (i32, !q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  %1 = mla.prefill #mla.sliding_window_noncausal parameters(%ui32)
      queries(%q, %iro) keys(%k, %k, %bro) rope(%rope) scale(%scale) outs(%0)
      : (ui32, !q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  %2 = mla.prefill #mla.chunked parameters(%i64)
      queries(%q, %iro) keys(%k, %k, %bro) rope(%rope) scale(%scale) outs(%1)
      : (i64, !q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  %3 = mla.prefill #mla.chunked_causal parameters(%index)
      queries(%q, %iro) keys(%k, %k, %bro) rope(%rope) scale(%scale) outs(%2)
      : (index, !q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  %4 = mla.prefill #mla.chunked_causal parameters(%each)
      queries(%q, %iro) keys(%k, %k, %bro) rope(%rope) scale(%scale) outs(%3)
      : (!vec, !q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  return %4 : !kv
}

// A schedule and a foreign attribute print behind the operands.
// CHECK-LABEL: func.func @schedule
// CHECK: outs(%{{.*}}) {schedule = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = 16, order = guarded_first, probability = f32>, test.note = "kept"} :
func.func @schedule(%q: !q, %iro: !vec, %k: !kv, %bro: !vec, %rope: tensor<?x8xf32>,
    %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %k, %bro) rope(%rope)
      scale(%scale) outs(%out)
      {test.note = "kept", schedule = #mla.schedule<query_tile = 64, key_tile = 32,
        guarded_key_tile = 16, order = guarded_first, probability = f32>}
      : (!q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  return %o : !kv
}

// cache_offsets may have an entry more than there are sequences.
// CHECK-LABEL: func.func @extra_cache_offset
// CHECK: mla.prefill
func.func @extra_cache_offset(%q: !q, %iro: tensor<3xi32>, %k: !kv, %bro: tensor<3xi32>,
    %co: tensor<3xi32>, %rope: tensor<?x8xf32>, %lengths: tensor<2xi32>, %scale: f32,
    %out: !kv) -> !kv {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %k, %bro, %co)
      rope(%rope, %lengths) scale(%scale) outs(%out)
      : (!q, tensor<3xi32>, !kv, !kv, tensor<3xi32>, tensor<3xi32>, tensor<?x8xf32>,
         tensor<2xi32>, f32, !kv) -> !kv
  return %o : !kv
}
