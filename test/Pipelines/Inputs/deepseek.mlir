// The widths of DeepSeek-V3: 128 + 64 columns of keys, 128 of values.
func.func @prefill(%q: tensor<?x16x192xbf16>, %iro: tensor<?xi32>,
    %k: tensor<?x16x128xbf16>, %v: tensor<?x16x128xbf16>, %bro: tensor<?xi32>,
    %cache: tensor<?x1x?x64x1x576xbf16>, %table: tensor<?x?xi32>,
    %lengths: tensor<?xi32>, %layer: i32, %scale: f32, %out: tensor<?x16x128xbf16>)
    -> tensor<?x16x128xbf16> {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (tensor<?x16x192xbf16>, tensor<?xi32>, tensor<?x16x128xbf16>,
         tensor<?x16x128xbf16>, tensor<?xi32>, tensor<?x1x?x64x1x576xbf16>,
         tensor<?x?xi32>, tensor<?xi32>, i32, f32, tensor<?x16x128xbf16>)
      -> tensor<?x16x128xbf16>
  return %o : tensor<?x16x128xbf16>
}
