// A template: MASK and, where ROPE stands, the operand's form. Widths, page size and tiles
// are those of prefill.py's batches.
!q = tensor<?x3x128xbf16>
!kv = tensor<?x3x64xbf16>
!ints = tensor<?xi32>
!pages = tensor<?x1x?xPAGEx1x128xbf16>

func.func @prefill(%window: i32, %q: !q, %iro: !ints, %k: !kv, %v: !kv, %bro: !ints,
    %co: !ints, %cache: !pages, %table: tensor<?x?xi32>, %lengths: !ints, %layer: i32,
    %scale: f32, %out: !kv, %lse: tensor<?x3xf32>) -> (!kv, tensor<?x3xf32>) {
  %o:2 = mla.prefill MASK queries(%q, %iro) keys(%k, %v, %bro, %co)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out, %lse)
      {schedule = #mla.schedule<query_tile = QUERIES, key_tile = 64, guarded_key_tile = 64,
         order = ORDER, probability = bf16>}
      : (WINDOW !q, !ints, !kv, !kv, !ints, !ints, !pages, tensor<?x?xi32>, !ints, i32, f32,
         !kv, tensor<?x3xf32>) -> (!kv, tensor<?x3xf32>)
  return %o#0, %o#1 : !kv, tensor<?x3xf32>
}
