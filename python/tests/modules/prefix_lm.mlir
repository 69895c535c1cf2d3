// A prefill with a mask that no library of the product knows: the first P tokens of
// a sequence see each other, the rest is causal. test/lib has the attribute, in two
// forms: prefix_lm and prefix_lm_ranges.

!q = tensor<?x2x192xbf16>
!kv = tensor<?x2x128xbf16>
!pages = tensor<?x1x?x64x1x96xbf16>
!lse = tensor<?x2xf32>

func.func @prefix_lm(%prefix: tensor<?xi32>, %q: !q, %iro: tensor<?xi32>, %k: !kv,
    %v: !kv, %bro: tensor<?xi32>, %cache: !pages, %table: tensor<?x?xi32>,
    %lengths: tensor<?xi32>, %layer: i32, %scale: f32, %output: !kv, %lse: !lse)
    -> (!kv, !lse) {
  %o, %l = mla.prefill #test_mla.prefix_lm parameters(%prefix)
      queries(%q, %iro) keys(%k, %v, %bro) pages(%cache, %table, %lengths, %layer)
      scale(%scale) outs(%output, %lse)
      : (tensor<?xi32>, !q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, !pages,
         tensor<?x?xi32>, tensor<?xi32>, i32, f32, !kv, !lse) -> (!kv, !lse)
  return %o, %l : !kv, !lse
}
