// RUN: mla-opt %s -mla-to-tile -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -mla-to-tile -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 2

!q = tensor<?x2x24xbf16>
!kv = tensor<?x2x16xbf16>

func.func @no_schedule(%q: !q, %offsets: tensor<?xi32>, %k: !kv,
    %rope: tensor<?x8xbf16>, %scale: f32, %out: !kv) -> !kv {
  // expected-error @+1 {{has no schedule; run mla-select-schedule or write one}}
  %o = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x8xbf16>, f32, !kv) -> !kv
  return %o : !kv
}

// -----

!q = tensor<?x2x24xbf16>
!kv = tensor<?x2x16xbf16>

func.func @probability(%q: !q, %offsets: tensor<?xi32>, %k: !kv,
    %rope: tensor<?x8xbf16>, %scale: f32, %out: !kv) -> !kv {
  // expected-error @+1 {{schedule: probability: expected f32 or 'bf16' as 'v', got 'f16'}}
  %o = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 32, key_tile = 16, guarded_key_tile = 8,
         order = ascending, probability = f16>}
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x8xbf16>, f32, !kv) -> !kv
  return %o : !kv
}
