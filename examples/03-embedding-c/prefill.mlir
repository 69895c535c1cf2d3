// A sliding window over ragged sequences; the window is a run-time argument, the
// rope part of the keys a ragged tensor.
func.func @prefill(
    %window: i32, %q: tensor<?x4x192xf32>, %input_row_offsets: tensor<?xi32>,
    %k: tensor<?x4x128xf32>, %v: tensor<?x4x128xf32>,
    %buffer_row_offsets: tensor<?xi32>, %k_rope: tensor<?x64xf32>, %scale: f32,
    %output: tensor<?x4x128xf32>) -> tensor<?x4x128xf32> {
  %o = mla.prefill #mla.sliding_window_causal parameters(%window)
      queries(%q, %input_row_offsets) keys(%k, %v, %buffer_row_offsets)
      rope(%k_rope) scale(%scale) outs(%output)
      : (i32, tensor<?x4x192xf32>, tensor<?xi32>, tensor<?x4x128xf32>,
         tensor<?x4x128xf32>, tensor<?xi32>, tensor<?x64xf32>, f32,
         tensor<?x4x128xf32>) -> tensor<?x4x128xf32>
  return %o : tensor<?x4x128xf32>
}
