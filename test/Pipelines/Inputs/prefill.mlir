// Two heads, every kind of operand, sizes of which none divides another.
func.func @prefill(%w: i32, %q: tensor<?x2x24xbf16>, %iro: tensor<?xi32>,
    %k: tensor<?x2x16xbf16>, %v: tensor<?x2x16xbf16>, %bro: tensor<?xi32>,
    %co: tensor<?xi32>, %cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %lengths: tensor<?xui32>, %layer: i32, %scale: f32, %out: tensor<?x2x16xbf16>,
    %lse: tensor<?x2xf32>) -> (tensor<?x2x16xbf16>, tensor<?x2xf32>) {
  %o:2 = mla.prefill #mla.sliding_window_causal parameters(%w)
      queries(%q, %iro) keys(%k, %v, %bro, %co)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out, %lse)
      : (i32, tensor<?x2x24xbf16>, tensor<?xi32>, tensor<?x2x16xbf16>,
         tensor<?x2x16xbf16>, tensor<?xi32>, tensor<?xi32>,
         tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<?xui32>, i32, f32,
         tensor<?x2x16xbf16>, tensor<?x2xf32>)
      -> (tensor<?x2x16xbf16>, tensor<?x2xf32>)
  return %o#0, %o#1 : tensor<?x2x16xbf16>, tensor<?x2xf32>
}
