//===- MLAAttrs.td - Masks and schedules -------------------*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_MLA_IR_MLAATTRS
#define MLA_DIALECT_MLA_IR_MLAATTRS

include "mla/Dialect/MLA/IR/MLABase.td"
include "mla/Dialect/MLA/IR/MLAInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class MLA_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<MLA_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

class MLA_Mask<string name, string attrMnemonic, list<string> methods>
    : MLA_Attr<name, attrMnemonic,
               [DeclareAttrInterfaceMethods<MLA_MaskAttrInterface,
                  !listconcat(["buildPredicate", "buildKeyRanges"], methods)>]>;

class MLA_WindowMask<string name, string attrMnemonic, list<string> methods = []>
    : MLA_Mask<name, attrMnemonic,
               !listconcat(["getNumParameters", "isParameterPositive"], methods)>;

def MLA_NullMask : MLA_Mask<"NullMask", "null", []> {
  let summary = "every query sees every key";
}
def MLA_CausalMask : MLA_Mask<"CausalMask", "causal", []> {
  let summary = "key <= query";
}
def MLA_SlidingWindowCausalMask
    : MLA_WindowMask<"SlidingWindowCausalMask", "sliding_window_causal",
                     ["simplify"]> {
  let summary = "key <= query and query - key < W: W tokens, the query included";
}
def MLA_SlidingWindowNoncausalMask
    : MLA_WindowMask<"SlidingWindowNoncausalMask", "sliding_window_noncausal",
                     ["simplify"]> {
  let summary = "query - key < W";
}
def MLA_ChunkedMask : MLA_WindowMask<"ChunkedMask", "chunked"> {
  let summary = "floor(key / W) == floor(query / W)";
}
def MLA_ChunkedCausalMask
    : MLA_WindowMask<"ChunkedCausalMask", "chunked_causal"> {
  let summary = "causal and chunked";
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

def MLA_LoopOrder : I32EnumAttr<"LoopOrder", "which keys of a query tile come first", [
    I32EnumAttrCase<"Ascending", 0, "ascending">,
    I32EnumAttrCase<"GuardedFirst", 1, "guarded_first">
  ]> {
  let cppNamespace = "::mlir::mla";
}

def MLA_Schedule : MLA_Attr<"Schedule", "schedule"> {
  let summary = "how mla.prefill is cut into tiles";
  let description = [{
    Written by one pass, `mla-select-schedule`, or by hand; only read elsewhere.

    * `query_tile`: queries of a work item.
    * `key_tile`: keys of one step of the loop over open ranges.
    * `guarded_key_tile`: keys of one step where the predicate is evaluated;
      divides `key_tile`.
    * `order`: `ascending` visits the key ranges in the mask's order,
      `guarded_first` the guarded ones before the open ones.
    * `probability`: the element type in which the probabilities meet the
      values; the type of `v` or f32. Row sums always use f32.

    ```mlir
    #mla.schedule<query_tile = 256, key_tile = 128, guarded_key_tile = 16,
                  order = ascending, probability = f32>
    ```
  }];
  let parameters = (ins "int64_t":$queryTile, "int64_t":$keyTile,
      "int64_t":$guardedKeyTile,
      EnumParameter<MLA_LoopOrder>:$order, "::mlir::FloatType":$probability);
  let assemblyFormat = [{
    `<` `query_tile` `=` $queryTile `,` `key_tile` `=` $keyTile `,`
        `guarded_key_tile` `=` $guardedKeyTile `,` `order` `=` $order `,`
        `probability` `=` $probability `>`
  }];
  let genVerifyDecl = 1;
}

def MLA_VectorSchedule : MLA_Attr<"VectorSchedule", "vector_schedule"> {
  let summary = "how a tile is cut for the vector registers of a CPU";
  let description = [{
    * `strip`: queries held side by side in vector lanes.
    * `block`: rows of the register block of a contraction; a block holds
      `block * strip` accumulators.

    Stands on the `scf.forall` over work items as `mla.vector_schedule`.

    ```mlir
    #mla.vector_schedule<strip = 16, block = 4>
    ```
  }];
  let parameters = (ins "int64_t":$strip, "int64_t":$block);
  let assemblyFormat = "`<` `strip` `=` $strip `,` `block` `=` $block `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Its name on an scf.forall.
    static constexpr ::llvm::StringLiteral attributeName = "mla.vector_schedule";
  }];
}

def MLA_RoleSchedule : MLA_Attr<"RoleSchedule", "role_schedule"> {
  let summary = "how the warpgroups of a GPU share a work item";
  let description = [{
    * `slots`: tiles of a kind that are on their way or in use at once.
    * `producer_registers`, `consumer_registers`: of a thread of the warpgroup
      that copies tiles and of those that compute.

    Stands on the `scf.forall` over work items as `mla.role_schedule`. Without it
    all warpgroups do the same.

    ```mlir
    #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 232>
    ```
  }];
  let parameters = (ins "int64_t":$slots, "int64_t":$producerRegisters,
                        "int64_t":$consumerRegisters);
  let assemblyFormat = [{
    `<` `slots` `=` $slots `,` `producer_registers` `=` $producerRegisters `,`
    `consumer_registers` `=` $consumerRegisters `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Its name on an scf.forall.
    static constexpr ::llvm::StringLiteral attributeName = "mla.role_schedule";
  }];
}

#endif // MLA_DIALECT_MLA_IR_MLAATTRS
