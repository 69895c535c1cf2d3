// What the target does not run is refused at the op, by the operand's name or the
// schedule's, before anything is lowered.
// Not yet: an op of level 1 or 2 that nobody wrote complains about its tile.

// XFAIL: *
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=nvvm" -split-input-file \
// RUN:   -verify-diagnostics -o /dev/null

!q = tensor<?x4x80xf32>
!kv = tensor<?x4x64xf32>
func.func @elements(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %rope: tensor<?x16xf32>, %scale: f32, %out: !kv) -> !kv {
  // expected-error @+1 {{'mla.prefill' op 'q': }}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x16xf32>, f32, !kv) -> !kv
  return %o : !kv
}

// -----

!q = tensor<?x4x80xbf16>
!kv = tensor<?x4x64xbf16>
!pages = tensor<?x1x?x16x1x32xf32>
func.func @cache(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %cache: !pages, %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %layer: i32,
    %scale: f32, %out: !kv) -> !kv {
  // expected-error @+1 {{'mla.prefill' op 'kv_blocks': }}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, !pages, tensor<?x?xi32>,
         tensor<?xi32>, i32, f32, !kv) -> !kv
  return %o : !kv
}

// -----

!q = tensor<?x4x72xbf16>
!kv = tensor<?x4x64xbf16>
func.func @width(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %rope: tensor<?x8xbf16>, %scale: f32, %out: !kv) -> !kv {
  // expected-error @+1 {{'mla.prefill' op 'q': }}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x8xbf16>, f32, !kv) -> !kv
  return %o : !kv
}

// -----

!q = tensor<?x4x80xbf16>
!kv = tensor<?x4x64xbf16>
func.func @query_tile(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %rope: tensor<?x16xbf16>, %scale: f32, %out: !kv) -> !kv {
  // expected-error @+1 {{'mla.prefill' op schedule: query_tile: }}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 48, key_tile = 64, guarded_key_tile = 64,
         order = ascending, probability = bf16>}
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x16xbf16>, f32, !kv) -> !kv
  return %o : !kv
}

// -----

!q = tensor<?x4x80xbf16>
!kv = tensor<?x4x64xbf16>
func.func @probability(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %rope: tensor<?x16xbf16>, %scale: f32, %out: !kv) -> !kv {
  // expected-error @+1 {{'mla.prefill' op schedule: probability: }}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 64, key_tile = 64, guarded_key_tile = 64,
         order = ascending, probability = f32>}
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x16xbf16>, f32, !kv) -> !kv
  return %o : !kv
}
