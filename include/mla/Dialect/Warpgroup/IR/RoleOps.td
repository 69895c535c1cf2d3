//===- RoleOps.td - Roles of warpgroups and what connects them -*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_WARPGROUP_IR_ROLEOPS
#define MLA_DIALECT_WARPGROUP_IR_ROLEOPS

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def WG_RolesOp : WG_Op<"roles", [NoRegionArguments, RecursiveMemoryEffects,
    SingleBlock, NoTerminator]> {
  let summary = "a producer and consumers, at the same time";
  let description = [{
    One warp of the first warpgroup runs the producer's region, the
    `warpgroups` after it run the consumer's, in which fragments are spread over
    them. Each role first sets how many registers its threads have. The op
    ends the kernel: nothing but a terminator follows.

    ```mlir
    func.func @example(%map: !wg.tensor_map<128x64xbf16>, %row: i32) {
      %ring = wg.ring consumers 2 : !wg.ring<2 x !wg.tile<128x64xbf16>>
      wg.roles warpgroups 2 producer registers 40 {
        %zero = arith.constant 0 : i32
        wg.acquire %ring[%zero] : !wg.ring<2 x !wg.tile<128x64xbf16>>
        wg.copy_box %map[%row, %zero] to %ring[%zero] element 0 column 0
            : !wg.tensor_map<128x64xbf16>, !wg.ring<2 x !wg.tile<128x64xbf16>>
        wg.commit %ring[%zero] : !wg.ring<2 x !wg.tile<128x64xbf16>>
      } consumer registers 232 {
        %zero = arith.constant 0 : i32
        %tile = wg.take %ring[%zero]
            : !wg.ring<2 x !wg.tile<128x64xbf16>> -> !wg.tile<128x64xbf16>
        wg.release %ring[%zero] : !wg.ring<2 x !wg.tile<128x64xbf16>>
      }
      return
    }
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$warpgroups,
                       ConfinedAttr<I64Attr, [IntPositive]>:$producerRegisters,
                       ConfinedAttr<I64Attr, [IntPositive]>:$consumerRegisters);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let assemblyFormat = [{
    `warpgroups` $warpgroups `producer` `registers` $producerRegisters $producer
    `consumer` `registers` $consumerRegisters $consumer attr-dict
  }];
  let hasVerifier = 1;
}

class WG_TurnOp<string mnemonic>
    : WG_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let assemblyFormat = "attr-dict";
}

def WG_StartTurnsOp : WG_TurnOp<"start_turns"> {
  let summary = "the first consumer warpgroup has the turn";
  let description = [{
    Consumer warpgroups that issue products in turns are not at the same place of
    their program: while one computes, another keeps the matrix unit busy.
    Each warpgroup awaits its turn and passes it on equally often.

    ```mlir
    func.func @example() {
      wg.start_turns
      wg.await_turn
      wg.pass_turn
      return
    }
    ```
  }];
}

def WG_AwaitTurnOp : WG_TurnOp<"await_turn"> {
  let summary = "wait for the warpgroup's turn";
}

def WG_PassTurnOp : WG_TurnOp<"pass_turn"> {
  let summary = "the turn is the next warpgroup's";
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

def WG_RingOp : WG_Op<"ring", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a ring in the block's shared memory";
  let description = [{
    `consumers`: how many warpgroups release each use. Every thread of the block
    is there. See `wg.roles` for an example.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$consumers);
  let results = (outs WG_Ring:$ring);
  let assemblyFormat = "`consumers` $consumers attr-dict `:` type($ring)";
}

class WG_RingUseOp<string mnemonic, list<Trait> traits = []>
    : WG_Op<mnemonic, traits # [MemoryEffects<[MemRead, MemWrite]>]>;

def WG_AcquireOp : WG_RingUseOp<"acquire"> {
  let summary = "wait until the slot of a use is free";
  let arguments = (ins WG_Ring:$ring, I32:$use);
  let assemblyFormat = "$ring `[` $use `]` attr-dict `:` type($ring)";
}

def WG_CommitOp : WG_RingUseOp<"commit"> {
  let summary = "all copies of a use are under way";
  let description = [{
    Consumers see the use when its last byte has arrived.
  }];
  let arguments = (ins WG_Ring:$ring, I32:$use);
  let assemblyFormat = "$ring `[` $use `]` attr-dict `:` type($ring)";
}

def WG_PutOp : WG_RingUseOp<"put"> {
  let summary = "scalars into an acquired use";
  let description = [{
    ```mlir
    func.func @example(%ring: !wg.ring<2 x index, i1>, %use: i32, %x: index, %y: i1) {
      wg.acquire %ring[%use] : !wg.ring<2 x index, i1>
      wg.put %x, %y to %ring[%use] : !wg.ring<2 x index, i1>
      wg.commit %ring[%use] : !wg.ring<2 x index, i1>
      return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values, WG_Ring:$ring, I32:$use);
  let assemblyFormat = "$values `to` $ring `[` $use `]` attr-dict `:` custom<RingElements>(type($ring), type($values))";
  let hasVerifier = 1;
}

def WG_TakeOp : WG_RingUseOp<"take"> {
  let summary = "wait for a use, and its values";
  let description = [{
    Tiles are there until the use is released; scalars are copies, the same in
    every thread. A use may be taken more than once before it is released.
  }];
  let arguments = (ins WG_Ring:$ring, I32:$use);
  let results = (outs Variadic<AnyType>:$values);
  let assemblyFormat = "$ring `[` $use `]` attr-dict `:` type($ring) `->` type($values)";
  let hasVerifier = 1;
}

def WG_ReleaseOp : WG_RingUseOp<"release"> {
  let summary = "the warpgroup needs a use no more";
  let description = [{
    With `when`, only where that holds.
  }];
  let arguments = (ins WG_Ring:$ring, I32:$use, Optional<I1>:$when);
  let assemblyFormat = "$ring `[` $use `]` (`when` $when^)? attr-dict `:` type($ring)";
}

def WG_ClearRowsOp : WG_RingUseOp<"clear_rows"> {
  let summary = "zeros into the last rows of a tile, where there are any";
  let description = [{
    Rows from `count` on. Waits for the use first, if there are such rows. Each
    consumer warpgroup writes all of them and so needs to wait for no other.
  }];
  let arguments = (ins WG_Ring:$ring, I32:$use, ConfinedAttr<I64Attr, [IntNonNegative]>:$element,
                       Index:$count);
  let assemblyFormat = "$ring `[` $use `]` `element` $element `from` $count attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def WG_TensorMapOp : WG_Op<"tensor_map", [MemoryEffects<[MemRead]>]> {
  let summary = "a tensor map, made on the host";
  let description = [{
    `operand` names the tensor in messages.

    ```mlir
    func.func @example(%k: memref<?x128x128xbf16, strided<[?, ?, 1], offset: ?>>) {
      %map = wg.tensor_map %k operand "k"
          : memref<?x128x128xbf16, strided<[?, ?, 1], offset: ?>> -> !wg.tensor_map<128x1x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, StrAttr:$operand);
  let results = (outs WG_TensorMap:$map);
  let assemblyFormat = "$source `operand` $operand attr-dict `:` type($source) `->` type($map)";
  let hasVerifier = 1;
}

def WG_CopyBoxOp : WG_RingUseOp<"copy_box"> {
  let summary = "one box of a tensor into a panel of a tile";
  let description = [{
    `coordinates` is the box's first element; what is outside the tensor arrives
    as zeros. See `wg.roles` for an example.
  }];
  let arguments = (ins WG_TensorMap:$map, Variadic<I32>:$coordinates, WG_Ring:$ring, I32:$use,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$element,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$column);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $ring `[` $use `]` `element` $element `column` $column attr-dict
    `:` type($map) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def WG_CopyPagesOp : WG_RingUseOp<"copy_pages"> {
  let summary = "rows of a paged cache into a tile";
  let description = [{
    As `wg.load_pages`, but rows past `count` hold anything. With a map, whose box
    is [1, 1, rows, one panel] of the cache's [pages, L, P, Dc], segments that
    start at a multiple of the box's rows go through the copy engine; others,
    and all without a map, are gathered by the warp.
  }];
  let arguments = (ins Arg<MemRefRankOf<[AnyFloat], [6]>, "the cache [pages, 1, L, P, 1, Dc]">:$cache,
                       Optional<WG_TensorMap>:$map,
                       Index:$layer, ConfinedAttr<I64Attr, [IntNonNegative]>:$column,
                       Arg<MemRefRankOf<[I32, UI32], [2]>, "pages of each sequence">:$table,
                       Index:$sequence, Index:$position, Index:$count,
                       WG_Ring:$ring, I32:$use, ConfinedAttr<I64Attr, [IntNonNegative]>:$element);
  let assemblyFormat = [{
    $cache (`by` $map^)? `[` `layer` $layer `,` `column` $column `]` `through` $table `[` $sequence `]`
    `rows` `(` $position `,` $count `)` `to` $ring `[` $use `]` `element` $element attr-dict
    `:` type($cache) (`by` type($map)^)? `,` type($table) `,` type($ring)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Which item is next
//===----------------------------------------------------------------------===//

def WG_OrderOp : WG_Op<"order", [SingleBlock, MemoryEffects<[MemRead, MemAlloc]>]> {
  let summary = "put the sequences with the longest items first";
  let description = [{
    Every thread of the block takes part. The body tells the cost of a query tile,
    from its sequence, its first query and its number of queries; it is
    asked for the last tile of each sequence. Of `heads` heads those are worked on
    together whose number times the cost of an item is `headsFor`, which keeps
    their keys in the second-level cache.

    ```mlir
    func.func @example(%offsets: memref<?xi32>, %lengths: memref<?xi32>, %heads: index) {
      %order = wg.order %offsets tile 128 heads %heads for 512 : memref<?xi32> {
      ^bb0(%sequence: index, %first: index, %count: index):
        %length = memref.load %lengths[%sequence] : memref<?xi32>
        %cost = arith.index_cast %length : i32 to index
        wg.yield %cost : index
      }
      return
    }
    ```
  }];
  let arguments = (ins Arg<MemRefRankOf<[I32, UI32], [1]>, "rows of each sequence [B + 1]">:$offsets,
                       ConfinedAttr<I64Attr, [IntPositive]>:$tile, Index:$heads,
                       ConfinedAttr<I64Attr, [IntPositive]>:$headsFor);
  let results = (outs WG_Order:$order);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$offsets `tile` $tile `heads` $heads `for` $headsFor attr-dict `:` type($offsets) $body";
  let hasVerifier = 1;
}

def WG_ItemCountOp : WG_Op<"item_count", [MemoryEffects<[MemRead]>]> {
  let summary = "how many items an order has for so many heads";
  let arguments = (ins WG_Order:$order, Index:$heads);
  let results = (outs Index:$count);
  let assemblyFormat = "$order `heads` $heads attr-dict";
}

def WG_ItemOp : WG_Op<"item", [MemoryEffects<[MemRead]>]> {
  let summary = "the item with a number";
  let description = [{
    Within a group of heads: the order's sequences, each one's tiles from the last
    to the first, the group's heads.
  }];
  let arguments = (ins WG_Order:$order, Index:$number, Index:$heads,
                       Arg<MemRefRankOf<[I32, UI32], [1]>, "as the order's">:$offsets,
                       ConfinedAttr<I64Attr, [IntPositive]>:$tile);
  let results = (outs Index:$sequence, Index:$first, Index:$count, Index:$head);
  let assemblyFormat = [{
    $order `[` $number `]` `heads` $heads `in` $offsets `tile` $tile attr-dict `:` type($offsets)
  }];
}

def WG_ClaimOp : WG_Op<"claim", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the number of the next item that no block has begun";
  let description = [{
    A block's first item is its own number; this gives the others.
  }];
  let results = (outs Index:$number);
  let assemblyFormat = "attr-dict";
}

def WG_RetireOp : WG_Op<"retire", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the block claims no more";
  let description = [{
    The last block to say so leaves the counters at zero for the next launch.
  }];
  let assemblyFormat = "attr-dict";
}

#endif // MLA_DIALECT_WARPGROUP_IR_ROLEOPS
