// A causal prefill with paged rope. The tiles are small, so that few tokens make
// many of them.
func.func @prefill(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>,
    %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>,
    %cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %lengths: tensor<?xi32>, %layer: i32, %scale: f32, %out: tensor<?x2x16xf32>,
    %lse: tensor<?x2xf32>) -> (tensor<?x2x16xf32>, tensor<?x2xf32>) {
  %o:2 = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out, %lse)
      {schedule = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = 8,
         order = ascending, probability = f32>}
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<?xi32>,
         i32, f32, tensor<?x2x16xf32>, tensor<?x2xf32>)
      -> (tensor<?x2x16xf32>, tensor<?x2xf32>)
  return %o#0, %o#1 : tensor<?x2x16xf32>, tensor<?x2xf32>
}
