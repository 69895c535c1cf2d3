// One attention step of DeepSeek-V3: 128 heads, keys of 128 columns without and
// 64 with rotary embedding, values of 128 columns, pages of 64 tokens. All else is
// dynamic: tokens, sequences, pages, layers.
//
// k and v are up-projected keys and values of the whole context, a ragged tensor
// like the queries; the rope part of each key is read from the paged cache, whose
// rows hold 512 latent columns and these 64.
func.func @prefill(
    %q: tensor<?x128x192xbf16>, %input_row_offsets: tensor<?xi32>,
    %k: tensor<?x128x128xbf16>, %v: tensor<?x128x128xbf16>,
    %buffer_row_offsets: tensor<?xi32>,
    %kv_blocks: tensor<?x1x?x64x1x576xbf16>, %lookup_table: tensor<?x?xi32>,
    %cache_lengths: tensor<?xi32>, %layer_idx: i32, %scale: f32,
    %output: tensor<?x128x128xbf16>, %lse: tensor<?x128xf32>)
    -> (tensor<?x128x128xbf16>, tensor<?x128xf32>) {
  %o, %l = mla.prefill #mla.causal
      queries(%q, %input_row_offsets)
      keys(%k, %v, %buffer_row_offsets)
      pages(%kv_blocks, %lookup_table, %cache_lengths, %layer_idx)
      scale(%scale) outs(%output, %lse)
      : (tensor<?x128x192xbf16>, tensor<?xi32>, tensor<?x128x128xbf16>,
         tensor<?x128x128xbf16>, tensor<?xi32>, tensor<?x1x?x64x1x576xbf16>,
         tensor<?x?xi32>, tensor<?xi32>, i32, f32, tensor<?x128x128xbf16>,
         tensor<?x128xf32>) -> (tensor<?x128x128xbf16>, tensor<?x128xf32>)
  return %o, %l : tensor<?x128x128xbf16>, tensor<?x128xf32>
}
