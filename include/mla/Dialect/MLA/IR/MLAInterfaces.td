//===- MLAInterfaces.td - What a mask has to answer --------*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_MLA_IR_MLAINTERFACES
#define MLA_DIALECT_MLA_IR_MLAINTERFACES

include "mlir/IR/OpBase.td"

def MLA_MaskAttrInterface : AttrInterface<"MaskAttrInterface"> {
  let cppNamespace = "::mlir::mla";
  let description = [{
    Which keys a query sees, as IR builders over absolute positions in the
    sequence (`index` values). A query's position may be negative when there are
    more queries than keys.

    `buildPredicate` alone makes a mask right on every backend. `buildKeyRanges`
    makes it fast: keys outside every range are never read, and keys inside an
    open range are used without evaluating the predicate.
  }];
  let methods = [
    InterfaceMethod<[{
      The number of run-time parameters: operands of `mla.prefill`, each a scalar
      or one integer per sequence. The builders below get them as `index`
      values, those per sequence already picked for the sequence at hand.
    }], "unsigned", "getNumParameters", (ins), "", "return 0;">,
    InterfaceMethod<[{
      Whether run-time parameter `index` has to be greater than zero. The run
      time checks it before anything is launched.
    }], "bool", "isParameterPositive", (ins "unsigned":$index), "",
        "return false;">,
    InterfaceMethod<[{
      An i1 that is true iff the query at position `query` sees the key at
      position `key`.
    }], "::mlir::Value", "buildPredicate",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
             "::mlir::Value":$query, "::mlir::Value":$key,
             "::mlir::ValueRange":$parameters)>,
    InterfaceMethod<[{
      The keys that the queries of `tile` see, as key ranges in ascending
      order. A bound may lie outside the tile's keys and a range may be empty or
      reversed: the caller clamps. Two ranges that share a bound as the same
      value are known to be adjacent. The default is one guarded range that
      holds every key.
    }], "::llvm::SmallVector<::mlir::mla::KeyRange>", "buildKeyRanges",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
             "const ::mlir::mla::MaskTile &":$tile,
             "::mlir::ValueRange":$parameters), "", [{
      return {::mlir::mla::KeyRange{tile.firstKey, tile.endKey,
                                    /*guarded=*/true}};
    }]>,
    InterfaceMethod<[{
      An equivalent, simpler mask given the parameters that are known constants
      (null where not) and the greatest distance between two positions of a
      sequence (none if not known). Returns this mask if there is none.
    }], "::mlir::Attribute", "simplify",
        (ins "::llvm::ArrayRef<::mlir::Attribute>":$parameters,
             "::std::optional<int64_t>":$maxDistance), "",
        "return $_attr;">
  ];
}

#endif // MLA_DIALECT_MLA_IR_MLAINTERFACES
