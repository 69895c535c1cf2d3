//===- MLAOps.td - mla.prefill -----------------------------*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_MLA_IR_MLAOPS
#define MLA_DIALECT_MLA_IR_MLAOPS

include "mla/Dialect/MLA/IR/MLAAttrs.td"
include "mla/Dialect/MLA/IR/TileOps.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def MLA_PrefillOp : MLA_Op<"prefill", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface,
      ["getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
       "getResultTilePosition", "generateResultTileValue"]>]> {
  let summary = "attention of ragged queries over ragged keys and a paged rope cache";
  let description = [{
    For sequence `b`, head `h` and query `i` in `[0, n)`:

    ```
    n     = input_row_offsets[b+1] - input_row_offsets[b]
    ctx   = cache_lengths[b] + n
    rows  = min(buffer_row_offsets[b+1] - buffer_row_offsets[b],
                max(ctx - cache_offsets[b], 0))
    qpos  = cache_lengths[b] + i              row t = input_row_offsets[b] + i
    for j in [0, rows):                       row r = buffer_row_offsets[b] + j
        kpos = cache_offsets[b] + j
        s[j] = dot(q[t,h,:Dn], k[r,h,:]) + dot(q[t,h,Dn:], rope(b, kpos))
        u[j] = scale * s[j]  if the mask lets qpos see kpos, else -inf
    output[t,h,:] = sum_j softmax(u)[j] * v[r,h,:]
    lse[t,h]      = log(sum_j exp(u[j]))

    rope(b, kpos) = kv_blocks[lookup_table[b, kpos / P], 0, layer_idx,
                              kpos % P, 0, Dc-Dr:]
    ```

    With the group `rope(...)` in place of `pages(...)` the rope part of the key
    in row `r` is `k_rope[r, :]`; `cache_lengths` may then be absent, and the
    queries are aligned to the end of the keys: `cache_lengths[b] =
    cache_offsets[b] + (buffer rows of b) - n` (MLA-R4). `cache_offsets` absent
    means 0.

    The rules that tests and backends refer to:

    * MLA-R1: scores, softmax and the accumulation over keys are f32; the output
      is rounded once. Row sums and `lse` use unrounded probabilities.
    * MLA-R2: a query that sees no key gets output 0 and lse -inf; every row of
      `output` in `[0, input_row_offsets[B])` is written.
    * MLA-R3: a masked score is -inf, not a large finite number.
    * MLA-R4: alignment of the queries without `cache_lengths`, see above.
    * MLA-R5: rows past a sequence's end, gap rows, free pages and table entries
      past a sequence's last page never change a result, whatever they hold.
    * MLA-R6: NaN or Inf of one sequence never reaches another's rows.
    * MLA-R7: offsets inside tensors are 64-bit.
    * MLA-R8: strides of memrefs are honoured; the last one must be 1.
    * MLA-R9: the same inputs on the same device and schedule give the same bits.
    * MLA-R10: `B = 0`, `T = 0`, `n = 0` and `N = 0` are legal.

    The verifier's rules, which its messages cite:

    * MLA-V1: operands are all tensors or all memrefs; as many results as
      destinations with tensors, none with memrefs, each of its destination's
      type.
    * MLA-V2: ranks: `q`, `k`, `v`, `output` 3, `kv_blocks` 6, `k_rope` and `lse`
      2.
    * MLA-V3: `q`, `k`, `v` share one element type out of bf16, f16 and f32;
      `output` has one of these, `kv_blocks` and `k_rope` too; `lse` is f32.
    * MLA-V4: `Dn`, `Dr`, `Dv`, `Dc` are static and positive, the heads agree.
    * MLA-V5: `Dq = Dn + Dr`, `Dr <= Dc`, and `k_rope`'s width is `Dr`.
    * MLA-V6: static extents agree: `T` of `q`, `output` and `lse`; `N` of `k`,
      `v` and `k_rope`; `B` of the offsets, the table and the lengths.
    * MLA-V7: extents 1 and 4 of `kv_blocks` are 1.
    * MLA-V8: exactly one of the groups `pages` and `rope`, each complete.
    * MLA-V9: as many mask parameters as the mask takes.
    * MLA-V10: the last dimension of every memref of floats has stride 1.

    Element types: f8E4M3FN is not supported yet.

    Example:

    ```mlir
    func.func @prefill(%q: tensor<?x128x192xbf16>, %k: tensor<?x128x128xbf16>,
        %v: tensor<?x128x128xbf16>, %buffer_row_offsets: tensor<?xi32>,
        %cache_offsets: tensor<?xi32>, %input_row_offsets: tensor<?xi32>,
        %kv_blocks: tensor<?x1x?x64x1x576xbf16>, %lookup_table: tensor<?x?xi32>,
        %cache_lengths: tensor<?xi32>, %layer_idx: i32, %scale: f32,
        %output: tensor<?x128x128xbf16>) -> tensor<?x128x128xbf16> {
      %o = mla.prefill #mla.causal
          queries(%q, %input_row_offsets)
          keys(%k, %v, %buffer_row_offsets, %cache_offsets)
          pages(%kv_blocks, %lookup_table, %cache_lengths, %layer_idx)
          scale(%scale) outs(%output)
          : (tensor<?x128x192xbf16>, tensor<?xi32>, tensor<?x128x128xbf16>,
             tensor<?x128x128xbf16>, tensor<?xi32>, tensor<?xi32>,
             tensor<?x1x?x64x1x576xbf16>, tensor<?x?xi32>, tensor<?xi32>, i32,
             f32, tensor<?x128x128xbf16>) -> tensor<?x128x128xbf16>
      return %o : tensor<?x128x128xbf16>
    }
    ```
  }];
  let arguments = (ins
    MLA_MaskAttrInterface:$mask,
    Arg<Variadic<MLA_MaskParameter>, "run-time parameters of the mask, such as the window">:$mask_parameters,
    Arg<MLA_Shaped, "queries [T, H, Dq]: nope columns, then rope columns">:$q,
    Arg<MLA_IndexVector, "rows of `q` and `output` of each sequence [B+1]">:$input_row_offsets,
    Arg<MLA_Shaped, "up-projected nope keys [N, H, Dn]">:$k,
    Arg<MLA_Shaped, "up-projected values [N, H, Dv]">:$v,
    Arg<MLA_IndexVector, "rows of `k` and `v` of each sequence [B+1]">:$buffer_row_offsets,
    Arg<Optional<MLA_IndexVector>, "position of each sequence's first buffer row [B]; absent: 0">:$cache_offsets,
    Arg<Optional<MLA_Shaped>, "paged latent cache [pages, 1, L, P, 1, Dc]; rope is the last Dr columns">:$kv_blocks,
    Arg<Optional<MLA_IndexMatrix>, "page of tokens [c*P, (c+1)*P) of each sequence [B, cols]">:$lookup_table,
    Arg<Optional<MLA_Shaped>, "rope keys as a ragged tensor [N, Dr]">:$k_rope,
    Arg<Optional<MLA_IndexVector>, "tokens of each sequence cached before this step [B]">:$cache_lengths,
    Arg<Optional<MLA_IndexScalar>, "layer of the cache, in [0, L)">:$layer_idx,
    Arg<F32, "factor of the scores, finite and > 0">:$scale,
    Arg<MLA_Shaped, "destination [T, H, Dv]">:$output,
    Arg<Optional<MLA_Shaped>, "destination [T, H] of the natural-log softmax normaliser">:$lse,
    OptionalAttr<MLA_Schedule>:$schedule
  );
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $mask (`parameters` `(` $mask_parameters^ `)`)?
    `queries` `(` $q `,` $input_row_offsets `)`
    `keys` `(` $k `,` $v `,` $buffer_row_offsets (`,` $cache_offsets^)? `)`
    custom<RopeSource>($kv_blocks, $lookup_table, $k_rope, $cache_lengths, $layer_idx)
    `scale` `(` $scale `)` `outs` `(` $output (`,` $lse^)? `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      auto [start, size] = getODSOperandIndexAndLength(13);
      // `output` is followed by `lse`.
      return ::mlir::MutableOperandRange(getOperation(), start,
                                         size + (getLse() ? 1 : 0));
    }
    bool hasTensors() {
      return ::llvm::isa<::mlir::RankedTensorType>(getQ().getType());
    }
  }];
}

#endif // MLA_DIALECT_MLA_IR_MLAOPS
