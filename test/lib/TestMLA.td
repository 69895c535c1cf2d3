//===- TestMLA.td - A mask defined outside of the product --*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_TEST_LIB_TESTMLA
#define MLA_TEST_LIB_TESTMLA

include "mla/Dialect/MLA/IR/MLAInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def TestMLA_Dialect : Dialect {
  let name = "test_mla";
  let cppNamespace = "::test_mla";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let useDefaultAttributePrinterParser = 1;
}

def TestMLA_PrefixLMMask : AttrDef<TestMLA_Dialect, "PrefixLMMask",
    [DeclareAttrInterfaceMethods<MLA_MaskAttrInterface,
       ["getNumParameters", "buildPredicate"]>]> {
  let mnemonic = "prefix_lm";
  let summary = "key <= query or key < P, with a prefix length P per sequence";
}

def TestMLA_PrefixLMRangesMask : AttrDef<TestMLA_Dialect, "PrefixLMRangesMask",
    [DeclareAttrInterfaceMethods<MLA_MaskAttrInterface,
       ["getNumParameters", "buildPredicate", "buildKeyRanges"]>]> {
  let mnemonic = "prefix_lm_ranges";
  let summary = "prefix_lm that also says which keys need no predicate";
}

#endif // MLA_TEST_LIB_TESTMLA
