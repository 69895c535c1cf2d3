//===- TileOps.td - The words level 1 needs beside upstream -*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_MLA_IR_TILEOPS
#define MLA_DIALECT_MLA_IR_TILEOPS

include "mla/Dialect/MLA/IR/MLABase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def MLA_LocateOp : MLA_Op<"locate", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the sequence and the rows that a work item stands for";
  let description = [{
    Cuts the rows of every sequence, `[offsets[b], offsets[b+1])`, into tiles of
    `tile` rows, numbers the tiles through the batch, and finds tile `item`:

    * `sequence`: its sequence;
    * `first`: its first row, counted from the sequence's first row;
    * `count`: its rows, at most `tile`.

    A sequence's last tile comes first: under a causal mask it is the longest,
    and a dynamic queue does well to start with it. For an `item` past the last
    tile all three results are 0, so that a domain sized from shapes alone,
    `rows floordiv tile + sequences`, covers every batch.

    `mla-expand-locate` lowers it to a binary search over prefix sums that are
    made once, outside the loop over items.

    Example:

    ```mlir
    func.func @example(%item: index, %offsets: tensor<?xi32>) -> index {
      %sequence, %first, %count = mla.locate %item in %offsets tile 128 : tensor<?xi32>
      return %count : index
    }
    ```
  }];
  let arguments = (ins
    Arg<Index, "number of the tile">:$item,
    Arg<MLA_IndexVector, "rows of each sequence [B+1]">:$offsets,
    ConfinedAttr<I64Attr, [IntPositive]>:$tile);
  let results = (outs Index:$sequence, Index:$first, Index:$count);
  let assemblyFormat = "$item `in` $offsets `tile` $tile attr-dict `:` type($offsets)";
}

def MLA_GatherPagesOp : MLA_Op<"gather_pages", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface,
      ["getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
       "getResultTilePosition", "generateResultTileValue"]>]> {
  let summary = "rows of one sequence out of a paged cache";
  let description = [{
    With `P` the page size (extent 3 of `cache`) and `column + c` the cache's
    columns, row `r` of the destination becomes, for `r < count`,

    ```
    cache[table[sequence, (position + r) / P], 0, layer, (position + r) % P, 0,
          column + c]
    ```

    extended exactly to the destination's element type. Rows from `count` on are
    zero, and neither the table nor the cache is read for them.

    `mla-expand-gather` lowers it to a loop over rows.

    Example:

    ```mlir
    func.func @example(%cache: tensor<?x1x?x64x1x576xbf16>, %table: tensor<?x?xi32>,
        %sequence: index, %layer: index, %position: index, %count: index,
        %dest: tensor<128x64xbf16>) -> tensor<128x64xbf16> {
      %rope = mla.gather_pages %cache[layer %layer, column 512] through %table[%sequence]
          rows(%position, %count) outs(%dest)
          : tensor<?x1x?x64x1x576xbf16>, tensor<?x?xi32>, tensor<128x64xbf16>
          -> tensor<128x64xbf16>
      return %rope : tensor<128x64xbf16>
    }
    ```
  }];
  let arguments = (ins
    Arg<MLA_Shaped, "the cache [pages, 1, L, P, 1, Dc]">:$cache,
    Arg<Index, "layer of the cache">:$layer,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$column,
    Arg<MLA_IndexMatrix, "pages of each sequence [B, cols]">:$table,
    Arg<Index, "row of the table">:$sequence,
    Arg<Index, "position of the first row in the sequence, >= 0">:$position,
    Arg<Index, "rows to read; the rest become zero">:$count,
    Arg<MLA_Shaped, "destination [rows, columns]">:$dest);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $cache `[` `layer` $layer `,` `column` $column `]` `through` $table `[` $sequence `]`
    `rows` `(` $position `,` $count `)` `outs` `(` $dest `)` attr-dict
    `:` type($cache) `,` type($table) `,` type($dest) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestMutable(); }
  }];
}

#endif // MLA_DIALECT_MLA_IR_TILEOPS
