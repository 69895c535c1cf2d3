func.func @prefix_lm(
    %prefix: tensor<?xi32>, %q: tensor<?x4x192xf32>, %offsets: tensor<?xi32>,
    %k: tensor<?x4x128xf32>, %v: tensor<?x4x128xf32>, %k_rope: tensor<?x64xf32>,
    %scale: f32, %output: tensor<?x4x128xf32>) -> tensor<?x4x128xf32> {
  %o = mla.prefill #test_mla.prefix_lm parameters(%prefix)
      queries(%q, %offsets) keys(%k, %v, %offsets) rope(%k_rope)
      scale(%scale) outs(%output)
      : (tensor<?xi32>, tensor<?x4x192xf32>, tensor<?xi32>, tensor<?x4x128xf32>,
         tensor<?x4x128xf32>, tensor<?xi32>, tensor<?x64xf32>, f32,
         tensor<?x4x128xf32>) -> tensor<?x4x128xf32>
  return %o : tensor<?x4x128xf32>
}
