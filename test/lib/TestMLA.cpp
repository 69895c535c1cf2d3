//===- TestMLA.cpp - A mask defined outside of the product ------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a new mask costs: an attribute and its predicate. Key ranges are left to
// the interface's default.
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

Value test_mla::PrefixLMMaskAttr::buildPredicate(OpBuilder &builder,
                                                 Location loc, Value query,
                                                 Value key,
                                                 ValueRange parameters) const {
  Value causal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                       key, query);
  Value prefix = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       key, parameters[0]);
  return arith::OrIOp::create(builder, loc, causal, prefix);
}

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "TestMLA", "1",
          [](DialectRegistry *registry) {
            registry->insert<test_mla::TestMLADialect>();
          }};
}
