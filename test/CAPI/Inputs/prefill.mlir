func.func @prefill(%window: i32, %q: tensor<?x?x6xf32>, %iro: tensor<?xi32>,
    %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>, %bro: tensor<?xi32>,
    %blocks: tensor<?x1x?x?x1x5xf32>, %table: tensor<?x?xi32>,
    %lengths: tensor<?xi32>, %layer: i32, %scale: f32,
    %out: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %o = mla.prefill #mla.sliding_window_causal parameters(%window)
      queries(%q, %iro) keys(%k, %v, %bro)
      pages(%blocks, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (i32, tensor<?x?x6xf32>, tensor<?xi32>, tensor<?x?x4xf32>,
         tensor<?x?x4xf32>, tensor<?xi32>, tensor<?x1x?x?x1x5xf32>,
         tensor<?x?xi32>, tensor<?xi32>, i32, f32, tensor<?x?x4xf32>)
      -> tensor<?x?x4xf32>
  return %o : tensor<?x?x4xf32>
}
