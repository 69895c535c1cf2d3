// What the target does not run is refused at the op, by the operand's name or the
// schedule's, before anything is lowered.

// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=nvvm" -split-input-file \
// RUN:   -verify-diagnostics -o /dev/null
// RUN: not mla-opt %s --mla-lower="target=sm_90a stop-after=nvvm" -split-input-file \
// RUN:   -o /dev/null 2>&1 | grep 'error:' | grep -v 'was not produced' | count 13

!q = tensor<?x4x80xf32>
!kv = tensor<?x4x64xf32>
func.func @elements(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %rope: tensor<?x16xf32>, %scale: f32, %out: !kv) -> !kv {
  // expected-error @+1 {{'mla.prefill' op 'q': expected bf16 or f16 on a GPU, got 'f32'}}
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
  // expected-error @+1 {{'mla.prefill' op 'kv_blocks': expected 'bf16' (as 'q') on a GPU, got 'f32'}}
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
  // expected-error @+1 {{'mla.prefill' op 'q': expected a rope part of a multiple of 16 columns on a GPU, got 8}}
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
  // expected-error @+1 {{'mla.prefill' op schedule: query_tile: expected 64 or 128 on a GPU, got 48}}
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
  // expected-error @+1 {{'mla.prefill' op schedule: probability: expected 'bf16' (as 'q') on a GPU, got 'f32'}}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 64, key_tile = 64, guarded_key_tile = 64,
         order = ascending, probability = f32>}
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x16xbf16>, f32, !kv) -> !kv
  return %o : !kv
}

// -----

!q = tensor<?x4x88xbf16>
!k = tensor<?x4x72xbf16>
!v = tensor<?x4x64xbf16>
!out = tensor<?x4x64xbf16>
func.func @keys(%q: !q, %iro: tensor<?xi32>, %k: !k, %v: !v, %bro: tensor<?xi32>,
    %rope: tensor<?x16xbf16>, %scale: f32, %out: !out) -> !out {
  // expected-error @+1 {{'mla.prefill' op 'k': expected a multiple of 16 columns on a GPU, got 72}}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !k, !v, tensor<?xi32>, tensor<?x16xbf16>, f32, !out) -> !out
  return %o : !out
}

// -----

!q = tensor<?x4x80xbf16>
!k = tensor<?x4x64xbf16>
!v = tensor<?x4x264xbf16>
!out = tensor<?x4x264xbf16>
func.func @values(%q: !q, %iro: tensor<?xi32>, %k: !k, %v: !v, %bro: tensor<?xi32>,
    %rope: tensor<?x16xbf16>, %scale: f32, %out: !out) -> !out {
  // expected-error @+1 {{'mla.prefill' op 'v': expected a multiple of 16 columns, at most 256 on a GPU, got 264}}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !k, !v, tensor<?xi32>, tensor<?x16xbf16>, f32, !out) -> !out
  return %o : !out
}

// -----

!q = tensor<?x4x80xbf16>
!k = tensor<?x4x64xbf16>
!v = tensor<?x4x272xbf16>
!out = tensor<?x4x272xbf16>
func.func @wide_values(%q: !q, %iro: tensor<?xi32>, %k: !k, %v: !v, %bro: tensor<?xi32>,
    %rope: tensor<?x16xbf16>, %scale: f32, %out: !out) -> !out {
  // expected-error @+1 {{'mla.prefill' op 'v': expected a multiple of 16 columns, at most 256 on a GPU, got 272}}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !k, !v, tensor<?xi32>, tensor<?x16xbf16>, f32, !out) -> !out
  return %o : !out
}

// -----

!q = tensor<?x4x80xbf16>
!k = tensor<?x4x64xbf16>
!v = tensor<?x4x72xbf16>
!out = tensor<?x4x72xbf16>
func.func @narrow_values(%q: !q, %iro: tensor<?xi32>, %k: !k, %v: !v, %bro: tensor<?xi32>,
    %rope: tensor<?x16xbf16>, %scale: f32, %out: !out) -> !out {
  // expected-error @+1 {{'mla.prefill' op 'v': expected a multiple of 16 columns, at most 256 on a GPU, got 72}}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !k, !v, tensor<?xi32>, tensor<?x16xbf16>, f32, !out) -> !out
  return %o : !out
}

// -----

!q = tensor<?x4x80xbf16>
!k = tensor<?x4x64xbf16>
!v = tensor<?x4x64xbf16>
!out = tensor<?x4x64xbf16>
func.func @rope_elements(%q: !q, %iro: tensor<?xi32>, %k: !k, %v: !v, %bro: tensor<?xi32>,
    %rope: tensor<?x16xf16>, %scale: f32, %out: !out) -> !out {
  // expected-error @+1 {{'mla.prefill' op 'k_rope': expected 'bf16' (as 'q') on a GPU, got 'f16'}}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !k, !v, tensor<?xi32>, tensor<?x16xf16>, f32, !out) -> !out
  return %o : !out
}

// -----

!q = tensor<?x4x80xbf16>
!k = tensor<?x4x64xbf16>
!v = tensor<?x4x64xbf16>
!out = tensor<?x4x64xbf16>
func.func @large_query_tile(%q: !q, %iro: tensor<?xi32>, %k: !k, %v: !v, %bro: tensor<?xi32>,
    %rope: tensor<?x16xbf16>, %scale: f32, %out: !out) -> !out {
  // expected-error @+1 {{'mla.prefill' op schedule: query_tile: expected 64 or 128 on a GPU, got 192}}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 192, key_tile = 64, guarded_key_tile = 64,
         order = ascending, probability = bf16>}
      : (!q, tensor<?xi32>, !k, !v, tensor<?xi32>, tensor<?x16xbf16>, f32, !out) -> !out
  return %o : !out
}

// -----

!q = tensor<?x4x128xbf16>
!kv = tensor<?x4x64xbf16>
!pages = tensor<?x1x?x16x1x571xbf16>
func.func @before_the_rope(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %cache: !pages, %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %layer: i32,
    %scale: f32, %out: !kv) -> !kv {
  // expected-error @+1 {{'mla.prefill' op 'kv_blocks': expected a multiple of 8 columns before the rope part on a GPU, got 507}}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, !pages, tensor<?x?xi32>,
         tensor<?xi32>, i32, f32, !kv) -> !kv
  return %o : !kv
}

// -----

// One by one these widths are taken, but 32 keys of them do not fit twice beside the
// queries.
!q = tensor<?x4x576xbf16>
!k = tensor<?x4x512xbf16>
!v = tensor<?x4x256xbf16>
func.func @together(%q: !q, %iro: tensor<?xi32>, %k: !k, %v: !v, %bro: tensor<?xi32>,
    %rope: tensor<?x64xbf16>, %scale: f32, %out: !v) -> !v {
  // expected-error @+1 {{'mla.prefill' op 'q', 'k', 'v': expected widths whose tiles take at most 213448 bytes of a GPU's shared memory, got 253952 bytes}}
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !k, !v, tensor<?xi32>, tensor<?x64xbf16>, f32, !v) -> !v
  return %o : !v
}
