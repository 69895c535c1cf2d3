//===- GPULimits.cpp - What of mla.prefill a GPU runs -----------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GPULimits.h"

#include "mla/Dialect/Warpgroup/IR/Layouts.h"

using namespace mlir;
using namespace mlir::mla;

/// A product takes this many columns at a time; its result has at most so many.
static constexpr int64_t kStep = 16, kMaxColumns = 256;
/// Queries of an item: one warpgroup's, or two's, whose registers fill the
/// multiprocessor.
static constexpr int64_t kQueryTiles[] = {wg::rowsPerWarpgroup,
                                          2 * wg::rowsPerWarpgroup};

static Type getElement(Value value) {
  return cast<ShapedType>(value.getType()).getElementType();
}
static int64_t getWidth(Value value) {
  return cast<ShapedType>(value.getType()).getShape().back();
}

LogicalResult mla::checkRunsOnGPU(PrefillOp op) {
  auto fail = [&](StringRef name, const Twine &expected) {
    return op.emitOpError()
           << "'" << name << "': expected " << expected << " on a GPU, got ";
  };
  Type element = getElement(op.getQ());
  if (!element.isBF16() && !element.isF16())
    return fail("q", "bf16 or f16") << element;
  bool isPaged = !!op.getKvBlocks();
  Value rope = isPaged ? op.getKvBlocks() : op.getKRope();
  StringRef ropeName = isPaged ? "kv_blocks" : "k_rope";
  if (getElement(rope) != element)
    return op.emitOpError() << "'" << ropeName << "': expected " << element
                            << " (as 'q') on a GPU, got " << getElement(rope);

  int64_t nope = getWidth(op.getK()), value = getWidth(op.getV());
  int64_t ropeWidth = getWidth(op.getQ()) - nope;
  std::string columns = "a multiple of " + std::to_string(kStep) + " columns";
  if (nope % kStep != 0)
    return fail("k", columns) << nope;
  if (ropeWidth % kStep != 0)
    return fail("q", "a rope part of " + columns) << ropeWidth;
  if (value % kStep != 0 || value > kMaxColumns)
    return fail("v", columns + ", at most " + Twine(kMaxColumns)) << value;
  int64_t perChunk = 8 * wg::bytesPerChunk / element.getIntOrFloatBitWidth();
  if (isPaged && (getWidth(rope) - ropeWidth) % perChunk != 0)
    return fail(ropeName, "a multiple of " + Twine(perChunk) +
                              " columns before the rope part")
           << getWidth(rope) - ropeWidth;

  ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule)
    return success();
  if (!llvm::is_contained(kQueryTiles, schedule.getQueryTile()))
    return op.emitOpError()
           << "schedule: query_tile: expected " << kQueryTiles[0] << " or "
           << kQueryTiles[1] << " on a GPU, got " << schedule.getQueryTile();
  if (schedule.getProbability() != element)
    return op.emitOpError()
           << "schedule: probability: expected " << element
           << " (as 'q') on a GPU, got " << schedule.getProbability();
  return success();
}
