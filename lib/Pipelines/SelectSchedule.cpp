//===- SelectSchedule.cpp - The one place that chooses tile sizes -*- C++
//-*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GPULimits.h"

#include "mla/Conversion/KernelAttrs.h"
#include "mla/Dialect/MLA/IR/MLA.h"
#include "mla/Pipelines/Passes.h"
#include "mla/Pipelines/Pipelines.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLASELECTSCHEDULE
#include "mla/Pipelines/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;

/// CPU: a query tile large enough to pay for packing keys and values once, key
/// tiles that stay in the second-level cache, and guarded tiles as small as a
/// strip, since what a guarded tile computes is partly thrown away.
static ScheduleAttr getCPUSchedule(MLIRContext *context) {
  return ScheduleAttr::get(context, /*queryTile=*/256, /*keyTile=*/128,
                           /*guardedKeyTile=*/16, LoopOrder::Ascending,
                           Float32Type::get(context));
}

/// What of shared memory is left for tiles beside barriers, records and the
/// order of sequences.
static constexpr int64_t kTileBytes = kMaxSharedBytes - 19000;
static constexpr int64_t kSlots = 2;

/// GPU: two warpgroups of 64 queries share the keys in shared memory, as many
/// as fit. Guarded tiles come first: after an open one every row has a finite
/// maximum. Null, after an error, if not even the fewest fit.
static ScheduleAttr getGPUSchedule(PrefillOp op) {
  auto element =
      cast<FloatType>(cast<ShapedType>(op.getV().getType()).getElementType());
  // Bytes of a line of a tile, whose panels are 128 bytes wide.
  auto line = [&](int64_t columns) {
    return llvm::alignTo(columns * element.getWidth() / 8, 128);
  };
  auto width = [](Value value) {
    return cast<ShapedType>(value.getType()).getShape().back();
  };
  int64_t queryTile = 128, keyTile = 128;
  int64_t nope = width(op.getK()), value = width(op.getV());
  int64_t query = width(op.getQ());
  // A row of keys or queries, whose rope part begins a panel.
  int64_t row = line(nope) + line(query - nope);
  auto getBytes = [&] {
    return queryTile * row + kSlots * keyTile * (row + line(value));
  };
  while (keyTile > 32 && getBytes() > kTileBytes)
    keyTile /= 2;
  if (getBytes() > kTileBytes) {
    op.emitOpError() << "'q', 'k', 'v': expected widths whose tiles take at "
                        "most "
                     << kTileBytes << " bytes of a GPU's shared memory, got "
                     << getBytes() << " bytes";
    return nullptr;
  }
  return ScheduleAttr::get(op.getContext(), queryTile, keyTile,
                           /*guardedKeyTile=*/keyTile, LoopOrder::GuardedFirst,
                           element);
}

/// Two tiles of keys and of values fill the shared memory. The producer needs
/// few registers; the consumers hold scores, probabilities and output.
static RoleScheduleAttr getRoleSchedule(MLIRContext *context) {
  return RoleScheduleAttr::get(context, kSlots, /*producerRegisters=*/72,
                               /*consumerRegisters=*/216);
}

/// Two vector registers of queries, and as many rows as keep both multiply-add
/// units busy without spilling.
static VectorScheduleAttr getVectorSchedule(MLIRContext *context,
                                            int64_t lanes) {
  return VectorScheduleAttr::get(context,
                                 /*strip=*/std::max<int64_t>(2 * lanes, 8),
                                 /*block=*/lanes >= 16 ? 8 : 4);
}

namespace {
struct SelectSchedule : mla::impl::MLASelectScheduleBase<SelectSchedule> {
  using MLASelectScheduleBase::MLASelectScheduleBase;

  void runOnOperation() override {
    const TargetInfo *info = lookupTarget(target);
    if (!info) {
      getOperation()->emitError() << "unknown target '" << target << "'";
      return signalPassFailure();
    }
    MLIRContext *context = &getContext();
    WalkResult result = getOperation()->walk([&](PrefillOp op) {
      if (info->isGPU && failed(checkRunsOnGPU(op)))
        return WalkResult::interrupt();
      if (op.getSchedule())
        return WalkResult::advance();
      ScheduleAttr schedule =
          info->isGPU ? getGPUSchedule(op) : getCPUSchedule(context);
      if (!schedule)
        return WalkResult::interrupt();
      op.setScheduleAttr(schedule);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    StringRef name = VectorScheduleAttr::attributeName;
    Attribute schedule;
    if (info->isGPU) {
      name = RoleScheduleAttr::attributeName;
      schedule = getRoleSchedule(context);
    } else {
      schedule = getVectorSchedule(context, getVectorLanes(*info));
    }
    getOperation()->walk([&](scf::ForallOp op) {
      if (!op->hasAttr(name))
        op->setAttr(name, schedule);
    });
  }
};
} // namespace
