// Two heads of four columns and two rope columns, rope as a ragged tensor.
func.func @prefill(%q: tensor<?x2x6xf32>, %input_row_offsets: tensor<?xi32>,
    %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>,
    %buffer_row_offsets: tensor<?xi32>, %k_rope: tensor<?x2xf32>,
    %scale: f32, %output: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %o = mla.prefill #mla.causal
      queries(%q, %input_row_offsets) keys(%k, %v, %buffer_row_offsets)
      rope(%k_rope) scale(%scale) outs(%output)
      : (tensor<?x2x6xf32>, tensor<?xi32>, tensor<?x2x4xf32>,
         tensor<?x2x4xf32>, tensor<?xi32>, tensor<?x2xf32>, f32,
         tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  return %o : tensor<?x2x4xf32>
}
