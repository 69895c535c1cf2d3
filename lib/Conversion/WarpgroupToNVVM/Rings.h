//===- Rings.h - Where rings and the order are in shared memory -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_CONVERSION_WARPGROUPTONVVM_RINGS_H
#define MLA_LIB_CONVERSION_WARPGROUPTONVVM_RINGS_H

#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::mla::wg {

/// Integers and addresses at the start of a kernel.
struct KernelStart {
  Value thread;  // i32, in the block
  Value lane;    // i32
  Value isFirst; // i1: the first lane of its warp
  Value shared;  // pointer to the block's shared memory

  /// An address in shared memory.
  Value at(ImplicitLocOpBuilder &b, int64_t bytes, Value more = Value()) const;
};

/// A ring in shared memory. Slots follow each other, so do their barriers: all
/// "full" ones, then all "empty" ones.
struct RingPlace {
  int64_t start = 0, slotBytes = 0;
  SmallVector<int64_t> elements; // from a slot's start
  int64_t barriers = 0;
  int64_t slots = 0, consumers = 0;
};

/// The order of the sequences in shared memory.
struct OrderPlace {
  int64_t start = 0;
  int64_t capacity = 0;
};
/// Sequences, or runs of neighbouring ones, that an order holds.
inline constexpr int64_t kOrderCapacity = 2048;
int64_t getOrderBytes(int64_t capacity);
/// What building it needs besides, for a while, from the start of shared
/// memory.
int64_t getOrderScratchBytes(int64_t capacity);

Value buildConstant(ImplicitLocOpBuilder &b, int64_t value);
/// The value of the first lane, in all lanes.
Value buildBroadcast(ImplicitLocOpBuilder &b, Value value);

/// Whether this is the one thread of the warp that issues copies: always the
/// same. ptxas knows this form to be one thread. Behind any other condition it
/// writes a loop around each copy, over the threads that might be there.
Value buildLeader(ImplicitLocOpBuilder &b);

void lowerOrder(OrderOp op, const KernelStart &kernel, const OrderPlace &place);
void lowerItemCount(ItemCountOp op, const KernelStart &kernel,
                    const OrderPlace &place);
void lowerItem(ItemOp op, const KernelStart &kernel, const OrderPlace &place);

void lowerCopyBox(CopyBoxOp op, const KernelStart &kernel, Value map,
                  const RingPlace &ring);
void lowerCopyPages(CopyPagesOp op, const KernelStart &kernel, Value map,
                    const RingPlace &ring);

/// Slot and parity of a use.
Value buildSlot(ImplicitLocOpBuilder &b, const RingPlace &ring, Value use);
Value buildParity(ImplicitLocOpBuilder &b, const RingPlace &ring, Value use);
/// The "full" barrier of a use.
Value buildFull(ImplicitLocOpBuilder &b, const KernelStart &kernel,
                const RingPlace &ring, Value use);
/// The start of an element of a use.
Value buildElement(ImplicitLocOpBuilder &b, const KernelStart &kernel,
                   const RingPlace &ring, Value use, int64_t element,
                   int64_t bytes = 0);

} // namespace mlir::mla::wg

#endif // MLA_LIB_CONVERSION_WARPGROUPTONVVM_RINGS_H
