//===- Schedule.cpp - Verification of schedule attributes -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/MLA/IR/MLA.h"

using namespace mlir;
using namespace mlir::mla;

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t queryTile, int64_t keyTile,
                                   int64_t guardedKeyTile, LoopOrder,
                                   FloatType probability) {
  if (queryTile <= 0)
    return emitError() << "query_tile: expected a positive number, got "
                       << queryTile;
  if (keyTile <= 0)
    return emitError() << "key_tile: expected a positive number, got "
                       << keyTile;
  if (guardedKeyTile <= 0 || keyTile % guardedKeyTile != 0)
    return emitError() << "guarded_key_tile: expected a positive divisor of "
                          "key_tile = "
                       << keyTile << ", got " << guardedKeyTile;
  if (!probability.isF32() && !probability.isBF16() && !probability.isF16())
    return emitError() << "probability: expected bf16, f16 or f32, got "
                       << probability;
  return success();
}

LogicalResult
VectorScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           int64_t strip, int64_t block) {
  if (strip <= 0)
    return emitError() << "strip: expected a positive number, got " << strip;
  if (block <= 0)
    return emitError() << "block: expected a positive number, got " << block;
  return success();
}

LogicalResult
RoleScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         int64_t slots, int64_t producerRegisters,
                         int64_t consumerRegisters) {
  if (slots <= 0)
    return emitError() << "slots: expected a positive number, got " << slots;
  for (int64_t registers : {producerRegisters, consumerRegisters})
    if (registers < 24 || registers > 256 || registers % 8 != 0)
      return emitError() << "registers: expected a multiple of 8 from 24 to "
                            "256, got "
                         << registers;
  return success();
}
