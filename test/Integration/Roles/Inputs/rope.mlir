// A template as prefill.mlir, with a ragged rope operand: LENGTHS and TYPE stand for its
// lengths, where there are any.
!q = tensor<?x3x128xbf16>
!kv = tensor<?x3x64xbf16>
!ints = tensor<?xi32>

func.func @prefill(%q: !q, %iro: !ints, %k: !kv, %v: !kv, %bro: !ints,
    %rope: tensor<?x64xbf16>, %lengths: !ints, %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro)
      rope(%rope LENGTHS) scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 128, key_tile = 64, guarded_key_tile = 64,
         order = guarded_first, probability = bf16>}
      : (!q, !ints, !kv, !kv, !ints, tensor<?x64xbf16> TYPE, f32, !kv) -> !kv
  return %o : !kv
}
