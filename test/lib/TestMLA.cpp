//===- TestMLA.cpp - A mask defined outside of the product ------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a new mask costs: an attribute and its predicate, with key ranges left
// to the interface's default; and what making it fast costs: the ranges.
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/ADT/TypeSwitch.h"

#include "TestMLADialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "TestMLAAttrs.h.inc"

#include "TestMLADialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "TestMLAAttrs.cpp.inc"

using namespace mlir;

void test_mla::TestMLADialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "TestMLAAttrs.cpp.inc"
      >();
}

unsigned test_mla::PrefixLMMaskAttr::getNumParameters() const { return 1; }

static Value buildPrefixLM(OpBuilder &builder, Location loc, Value query,
                           Value key, Value prefixLength) {
  Value causal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                       key, query);
  Value prefix = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       key, prefixLength);
  return arith::OrIOp::create(builder, loc, causal, prefix);
}

Value test_mla::PrefixLMMaskAttr::buildPredicate(OpBuilder &builder,
                                                 Location loc, Value query,
                                                 Value key,
                                                 ValueRange parameters) const {
  return buildPrefixLM(builder, loc, query, key, parameters[0]);
}

unsigned test_mla::PrefixLMRangesMaskAttr::getNumParameters() const {
  return 1;
}

Value test_mla::PrefixLMRangesMaskAttr::buildPredicate(
    OpBuilder &builder, Location loc, Value query, Value key,
    ValueRange parameters) const {
  return buildPrefixLM(builder, loc, query, key, parameters[0]);
}

SmallVector<mla::KeyRange> test_mla::PrefixLMRangesMaskAttr::buildKeyRanges(
    OpBuilder &builder, Location loc, const mla::MaskTile &tile,
    ValueRange parameters) const {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value afterFirst = arith::AddIOp::create(builder, loc, tile.firstQuery, one);
  Value afterLast = arith::AddIOp::create(builder, loc, tile.lastQuery, one);
  // All queries see the prefix, and the keys up to the first of them.
  Value open = arith::MaxSIOp::create(builder, loc, afterFirst, parameters[0]);
  return {{tile.firstKey, open, /*guarded=*/false},
          {open, afterLast, /*guarded=*/true}};
}

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "TestMLA", "1",
          [](DialectRegistry *registry) {
            registry->insert<test_mla::TestMLADialect>();
          }};
}
