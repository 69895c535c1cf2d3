//===- WarpgroupOps.td - What warpgroups do with tiles -*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_WARPGROUP_IR_WARPGROUPOPS
#define MLA_DIALECT_WARPGROUP_IR_WARPGROUPOPS

include "mla/Dialect/Warpgroup/IR/WarpgroupTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class WG_Op<string mnemonic, list<Trait> traits = []>
    : Op<WG_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def WG_LoadOp : WG_Op<"load", [MemoryEffects<[MemRead, MemAlloc]>]> {
  let summary = "rows of global memory into shared memory";
  let description = [{
    Rows `[0, count)` of `source` become rows of the tile, the others are zero;
    without `count`, all rows are there. Ends with every thread seeing the tile.

    ```mlir
    func.func @example(%rows: memref<?x192xbf16, strided<[?, 1], offset: ?>>, %count: index) {
      %tile = wg.load %rows count %count
          : memref<?x192xbf16, strided<[?, 1], offset: ?>> -> !wg.tile<128x192xbf16>
      return
    }
    ```
  }];
  let arguments = (ins Arg<MemRefRankOf<[AnyFloat], [2]>, "rows [at least count, columns]">:$source,
                       Arg<Optional<Index>, "rows that exist">:$count);
  let results = (outs WG_Tile:$tile);
  let assemblyFormat = "$source (`count` $count^)? attr-dict `:` type($source) `->` type($tile)";
  let hasVerifier = 1;
}

def WG_LoadPagesOp : WG_Op<"load_pages", [MemoryEffects<[MemRead, MemAlloc]>]> {
  let summary = "rows of a paged cache into shared memory";
  let description = [{
    As `mla.gather_pages`, into a tile in shared memory.

    ```mlir
    func.func @example(%cache: memref<?x1x?x64x1x576xbf16>, %table: memref<?x?xi32>,
        %layer: index, %sequence: index, %position: index, %count: index) {
      %tile = wg.load_pages %cache[layer %layer, column 512] through %table[%sequence]
          rows(%position, %count)
          : memref<?x1x?x64x1x576xbf16>, memref<?x?xi32> -> !wg.tile<128x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins Arg<MemRefRankOf<[AnyFloat], [6]>, "the cache [pages, 1, L, P, 1, Dc]">:$cache,
                       Arg<Index, "layer of the cache">:$layer,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$column,
                       Arg<MemRefRankOf<[I32, UI32], [2]>, "pages of each sequence">:$table,
                       Arg<Index, "row of the table">:$sequence,
                       Arg<Index, "position of the first row">:$position,
                       Arg<Index, "rows to read; the rest become zero">:$count);
  let results = (outs WG_Tile:$tile);
  let assemblyFormat = [{
    $cache `[` `layer` $layer `,` `column` $column `]` `through` $table `[` $sequence `]`
    `rows` `(` $position `,` $count `)` attr-dict
    `:` type($cache) `,` type($table) `->` type($tile)
  }];
  let hasVerifier = 1;
}

def WG_ColumnsOp : WG_Op<"columns", [Pure]> {
  let summary = "whole panels of a tile, as a tile";
  let description = [{
    ```mlir
    func.func @example(%tile: !wg.tile<128x192xbf16>) {
      %rope = wg.columns %tile[128] : !wg.tile<128x192xbf16> -> !wg.tile<128x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins WG_Tile:$source, ConfinedAttr<I64Attr, [IntNonNegative]>:$first);
  let results = (outs WG_Tile:$tile);
  let assemblyFormat = "$source `[` $first `]` attr-dict `:` type($source) `->` type($tile)";
  let hasVerifier = 1;
}

def WG_TileAtOp : WG_Op<"tile_at", [Pure]> {
  let summary = "the tile at an address of shared memory";
  let description = [{
    What is left of a ring when its slots have addresses.

    ```mlir
    func.func @example(%address: i32) {
      %tile = wg.tile_at %address : !wg.tile<128x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins I32:$address);
  let results = (outs WG_Tile:$tile);
  let assemblyFormat = "$address attr-dict `:` qualified(type($tile))";
}

def WG_LocateOp : WG_Op<"locate", [MemoryEffects<[MemRead]>]> {
  let summary = "the query tile with a number";
  let description = [{
    As `mla.locate`, of offsets in memory.

    ```mlir
    func.func @example(%offsets: memref<?xi32>, %number: index) {
      %sequence, %first, %count = wg.locate %number in %offsets tile 128 : memref<?xi32>
      return
    }
    ```
  }];
  let arguments = (ins Index:$number,
                       Arg<MemRefRankOf<[I32, UI32], [1]>, "rows of each sequence [B + 1]">:$offsets,
                       ConfinedAttr<I64Attr, [IntPositive]>:$tile);
  let results = (outs Index:$sequence, Index:$first, Index:$count);
  let assemblyFormat = "$number `in` $offsets `tile` $tile attr-dict `:` type($offsets)";
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def WG_MmaOp : WG_Op<"mma", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "issue a product";
  let description = [{
    `acc + a * b`, or `a * b` without an accumulator; of several pairs the sum of
    their products. `a` is a tile or a fragment in `operand_a` layout. `b` is a tile
    [k, n], or [n, k] with `transposed`: then its columns are the sum's
    dimension.

    ```mlir
    func.func @example(%q: !wg.tile<128x192xbf16>, %k: !wg.tile<128x192xbf16>)
        -> !wg.fragment<128x128xf32, accumulator> {
      %issued = wg.mma %q by %k transposed : !wg.tile<128x192xbf16> by !wg.tile<128x192xbf16>
          -> !wg.pending<!wg.fragment<128x128xf32, accumulator>>
      %scores = wg.wait %issued : !wg.pending<!wg.fragment<128x128xf32, accumulator>>
          -> !wg.fragment<128x128xf32, accumulator>
      return %scores : !wg.fragment<128x128xf32, accumulator>
    }
    ```
  }];
  let arguments = (ins Variadic<WG_FragmentOrTile>:$a, Variadic<WG_Tile>:$b,
                       Optional<WG_Fragment>:$acc, UnitAttr:$transposed);
  let results = (outs WG_Pending:$result);
  let assemblyFormat = [{
    $a `by` $b (`transposed` $transposed^)? (`accumulate` $acc^ `:` type($acc) `,`):(`:`)?
    type($a) `by` type($b) attr-dict `->` type($result)
  }];
  let hasVerifier = 1;
}

def WG_WaitOp : WG_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the fragment that a product makes, once it is there";
  let description = [{
    Waits for this product and all issued before it; products issued since, in the
    same block, may stay in flight. See `wg.mma` for an example.
  }];
  let arguments = (ins WG_Pending:$product);
  let results = (outs WG_Fragment:$fragment);
  let assemblyFormat = "$product attr-dict `:` type($product) `->` type($fragment)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

// Not speculatable: it costs registers, and none outside the work item.
def WG_SplatOp : WG_Op<"splat", [NoMemoryEffect]> {
  let summary = "one value everywhere";
  let description = [{
    ```mlir
    func.func @example(%zero: f32) {
      %sum = wg.splat %zero : f32 -> !wg.fragment<128xf32, row>
      return
    }
    ```
  }];
  let arguments = (ins AnyFloat:$value);
  let results = (outs WG_Fragment:$fragment);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($fragment)";
  let hasVerifier = 1;
}

def WG_MapOp : WG_Op<"map", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "a scalar function of each element";
  let description = [{
    The block gets one element of each input, then its row and its column. An
    input of kind `row` or `partial` gives the value of the element's row. The result has the
    layout of the first input, and the yielded value's type.

    ```mlir
    func.func @example(%s: !wg.fragment<128x128xf32, accumulator>, %m: !wg.fragment<128xf32, row>) {
      %d = wg.map %s, %m : !wg.fragment<128x128xf32, accumulator>, !wg.fragment<128xf32, row>
          -> !wg.fragment<128x128xf32, accumulator> {
      ^bb0(%x: f32, %y: f32, %row: index, %column: index):
        %z = arith.subf %x, %y : f32
        wg.yield %z : f32
      }
      return
    }
    ```
  }];
  let arguments = (ins Variadic<WG_Fragment>:$inputs);
  let results = (outs WG_Fragment:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) `->` type($result) $body";
  let hasVerifier = 1;
}

def WG_ReduceOp : WG_Op<"reduce", [AllTypesMatch<["init", "result"]>, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "the columns of each row, combined";
  let description = [{
    Combines `init` and the elements of each row in an order that is not
    specified: the body is associative and commutative. With a `partial` result
    each thread combines the elements that it holds.

    ```mlir
    func.func @example(%s: !wg.fragment<128x128xf32, accumulator>, %m: !wg.fragment<128xf32, row>) {
      %r = wg.reduce %s, %m : !wg.fragment<128x128xf32, accumulator> -> !wg.fragment<128xf32, row> {
      ^bb0(%x: f32, %y: f32):
        %z = arith.maximumf %x, %y : f32
        wg.yield %z : f32
      }
      return
    }
    ```
  }];
  let arguments = (ins WG_Fragment:$input, WG_Fragment:$init);
  let results = (outs WG_Fragment:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$input `,` $init attr-dict `:` type($input) `->` type($result) $body";
  let hasVerifier = 1;
}

def WG_CombineOp : WG_Op<"combine", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "the threads' values for a row, combined";
  let description = [{
    ```mlir
    func.func @example(%s: !wg.fragment<128xf32, partial>) {
      %r = wg.combine %s : !wg.fragment<128xf32, partial> -> !wg.fragment<128xf32, row> {
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        wg.yield %z : f32
      }
      return
    }
    ```
  }];
  let arguments = (ins WG_Fragment:$partial);
  let results = (outs WG_Fragment:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$partial attr-dict `:` type($partial) `->` type($result) $body";
  let hasVerifier = 1;
}

def WG_YieldOp : WG_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["MapOp", "ReduceOp", "CombineOp", "OrderOp"]>]> {
  let summary = "the value of a body";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def WG_OperandAOp : WG_Op<"operand_a", [Pure]> {
  let summary = "an accumulator as the left operand of a product";
  let description = [{
    No instruction: for 16-bit elements the two layouts agree.

    ```mlir
    func.func @example(%p: !wg.fragment<128x128xbf16, accumulator>) {
      %a = wg.operand_a %p : !wg.fragment<128x128xbf16, accumulator>
          -> !wg.fragment<128x128xbf16, operand_a>
      return
    }
    ```
  }];
  let arguments = (ins WG_Fragment:$source);
  let results = (outs WG_Fragment:$fragment);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($fragment)";
  let hasVerifier = 1;
}

def WG_StoreOp : WG_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "the first rows of a fragment into global memory";
  let description = [{
    ```mlir
    func.func @example(%o: !wg.fragment<128x128xbf16, accumulator>,
        %dest: memref<?x128xbf16, strided<[?, 1], offset: ?>>, %count: index) {
      wg.store %o, %dest count %count : !wg.fragment<128x128xbf16, accumulator>,
          memref<?x128xbf16, strided<[?, 1], offset: ?>>
      return
    }
    ```
  }];
  let arguments = (ins WG_Fragment:$fragment,
                       Arg<MemRefRankOf<[AnyFloat], [1, 2]>, "rows [at least count, columns]">:$dest,
                       Arg<Index, "rows to write">:$count);
  let assemblyFormat = "$fragment `,` $dest `count` $count attr-dict `:` type($fragment) `,` type($dest)";
  let hasVerifier = 1;
}

include "mla/Dialect/Warpgroup/IR/RoleOps.td"

#endif // MLA_DIALECT_WARPGROUP_IR_WARPGROUPOPS
