//===- WarpgroupTypes.td - The wg dialect and where its tiles live -*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_WARPGROUP_IR_WARPGROUPTYPES
#define MLA_DIALECT_WARPGROUP_IR_WARPGROUPTYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def WG_Dialect : Dialect {
  let name = "wg";
  let cppNamespace = "::mlir::mla::wg";
  let summary = "tiles in the registers of warpgroups and in shared memory";
  let description = [{
    Level 2 of the pipeline: what one work item does on a GPU with warpgroup
    matrix instructions. A value is a whole tile, as on level 1, but its type
    says where it lives: in shared memory (`!wg.tile`), in registers
    (`!wg.fragment`), or in a product that has been issued and may not be read yet
    (`!wg.pending`).

    All threads of the block run every op; as many warpgroups take part as a
    fragment's rows divided by 64 say. Inside `wg.roles` the threads part: a
    producer copies tiles to shared memory, consumers compute, and `!wg.ring`s
    connect them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let useDefaultTypePrinterParser = 1;
}

def WG_FragmentKind : I32EnumAttr<"FragmentKind", "who holds the elements of a fragment", [
    I32EnumAttrCase<"Accumulator", 0, "accumulator">,
    I32EnumAttrCase<"OperandA", 1, "operand_a">,
    I32EnumAttrCase<"Row", 2, "row">,
    I32EnumAttrCase<"Partial", 3, "partial">
  ]> {
  let cppNamespace = "::mlir::mla::wg";
}

class WG_Type<string name, string typeMnemonic> : TypeDef<WG_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def WG_Tile : WG_Type<"Tile", "tile"> {
  let summary = "a tile in shared memory, swizzled by 128 bytes";
  let description = [{
    Rows and columns of 16-bit floats, in panels of 64 columns; Layouts.h says
    where each element is.

    ```mlir
    !wg.tile<128x192xbf16>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def WG_Fragment : WG_Type<"Fragment", "fragment"> {
  let summary = "a tile in the registers of warpgroups, 64 rows each";
  let description = [{
    * `accumulator`: the result of a product and what is computed from it
      elementwise.
    * `operand_a`: the left operand of a product.
    * `row`: one value a row, in every thread that holds a part of it.
    * `partial`: a value for a row of its own in each of these threads, which
      `wg.combine` makes one.

    ```mlir
    !wg.fragment<128x64xf32, accumulator>
    !wg.fragment<128x64xbf16, operand_a>
    !wg.fragment<128xf32, row>
    !wg.fragment<128xf32, partial>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        "::mlir::mla::wg::FragmentKind":$kind);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getWarpgroups() const;
    /// Whether it has values for rows, not for their elements.
    bool isOfRows() const;
    /// Elements that one thread holds.
    int64_t getElementsPerThread() const;
  }];
}

def WG_Pending : WG_Type<"Pending", "pending"> {
  let summary = "a product in flight: only wg.wait makes it a fragment";
  let parameters = (ins "::mlir::mla::wg::FragmentType":$fragment);
  let assemblyFormat = "`<` $fragment `>`";
}

def WG_Ring : WG_Type<"Ring", "ring"> {
  let summary = "a few slots in shared memory through which values cross between roles";
  let description = [{
    Each of the `slots` holds one value of each element type: tiles, or scalars.
    A use is a number that counts up from 0; use `n` is in slot `n` modulo
    `slots`. Every role counts its own uses, so that a ring needs no state but its
    barriers.

    ```mlir
    !wg.ring<2 x !wg.tile<128x128xbf16>, !wg.tile<128x64xbf16>>
    ```
  }];
  let parameters = (ins "int64_t":$slots, ArrayRefParameter<"::mlir::Type">:$elements);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether its values are tiles, filled by copies, or scalars, put there.
    bool holdsTiles() const;
  }];
}

def WG_TensorMap : WG_Type<"TensorMap", "tensor_map"> {
  let summary = "what the copy engine knows of a tensor, and the box it moves";
  let description = [{
    The box has the tensor's rank; its last extent is one panel of a tile.

    ```mlir
    !wg.tensor_map<128x1x64xbf16>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$box, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def WG_Order : WG_Type<"Order", "order"> {
  let summary = "sequences in the order in which a kernel works on them";
}

def WG_FragmentOrTile : AnyTypeOf<[WG_Fragment, WG_Tile]>;

#endif // MLA_DIALECT_WARPGROUP_IR_WARPGROUPTYPES
