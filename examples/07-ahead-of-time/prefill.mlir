// A causal prefill in bf16, four heads, the rope part of the keys a ragged tensor.
// Compiled ahead of time for a CPU and for a GPU.
func.func @prefill(
    %q: tensor<?x4x192xbf16>, %input_row_offsets: tensor<?xi32>,
    %k: tensor<?x4x128xbf16>, %v: tensor<?x4x128xbf16>,
    %buffer_row_offsets: tensor<?xi32>, %k_rope: tensor<?x64xbf16>, %scale: f32,
    %output: tensor<?x4x128xbf16>) -> tensor<?x4x128xbf16> {
  %o = mla.prefill #mla.causal
      queries(%q, %input_row_offsets) keys(%k, %v, %buffer_row_offsets)
      rope(%k_rope) scale(%scale) outs(%output)
      : (tensor<?x4x192xbf16>, tensor<?xi32>, tensor<?x4x128xbf16>,
         tensor<?x4x128xbf16>, tensor<?xi32>, tensor<?x64xbf16>, f32,
         tensor<?x4x128xbf16>) -> tensor<?x4x128xbf16>
  return %o : tensor<?x4x128xbf16>
}
