//===- Thread.h - What one thread knows of a kernel -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_CONVERSION_WARPGROUPTONVVM_THREAD_H
#define MLA_LIB_CONVERSION_WARPGROUPTONVVM_THREAD_H

#include "mla/Dialect/Warpgroup/IR/Layouts.h"
#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"
#include "mla/Target/PTX/Printer.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::mla::wg {

/// Spaces of NVVM's pointers.
inline constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;

SharedTile getShared(TileType type);

/// The elements that a thread holds; of an operand A as the 32-bit registers
/// that the matrix instruction takes.
VectorType getVector(FragmentType type);

/// A fragment is the vector of the elements that the thread holds, a tile its
/// address in shared memory.
struct ThreadTypes : TypeConverter {
  ThreadTypes();
};

/// Integers of the thread's own, made once where its role begins. The role's
/// first thread is number 0.
struct ThreadIds {
  Value thread;    // index
  Value warpgroup; // i32
  Value row;       // index: first of the two rows
  Value column;    // index: first column, of the element part 0
};

/// `thread`: i32, counted from the role's first.
ThreadIds buildThreadIds(ImplicitLocOpBuilder &b, Value thread);

/// What the patterns know of the kernel that they lower.
struct KernelFacts {
  int64_t threads = 0; // of a block
  /// Bytes from the start of shared memory, by the load that fills them.
  DenseMap<Operation *, int64_t> places;
  /// How many products were issued, by a wait, after the one it waits for.
  DenseMap<Operation *, int64_t> issuedSince;
  /// By the block in which a role begins.
  DenseMap<Block *, ThreadIds> roles;

  const ThreadIds &getIds(Operation *op) const;
};

template <typename Op> struct ThreadPattern : OpConversionPattern<Op> {
  ThreadPattern(const TypeConverter &converter, MLIRContext *context,
                const KernelFacts &facts)
      : OpConversionPattern<Op>(converter, context), facts(facts) {}

  const KernelFacts &facts;
};

void populateCopyPatterns(const ThreadTypes &types, const KernelFacts &facts,
                          RewritePatternSet &patterns);
void populateProductPatterns(const ThreadTypes &types, const KernelFacts &facts,
                             RewritePatternSet &patterns);
void populateFragmentPatterns(const ThreadTypes &types,
                              const KernelFacts &facts,
                              RewritePatternSet &patterns);

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value index(ImplicitLocOpBuilder &b, int64_t value);
Value add(ImplicitLocOpBuilder &b, Value value, int64_t offset);

/// The start of a memref's data, in bytes, and its strides.
struct Source {
  Source(ImplicitLocOpBuilder &b, Value memref);

  Value toValue(OpFoldResult value);
  Value scale(Value elements);
  /// The address of an element.
  Value getPointer(ValueRange indices);

  ImplicitLocOpBuilder &b;
  int64_t bytes;
  Value base;
  SmallVector<OpFoldResult> strides, sizes;
};

/// SharedTile::getOffset for a row and a 16-byte chunk of it that are known at
/// run time: bytes from the tile's start.
Value buildChunkOffset(ImplicitLocOpBuilder &b, const SharedTile &tile,
                       Value row, Value chunk);

/// The symbol of the block's dynamic shared memory, in the kernels' module.
void declareShared(ImplicitLocOpBuilder &b, gpu::GPUModuleOp module);

/// Calls an inline assembly and returns its results as scalars.
SmallVector<Value> buildAsm(ImplicitLocOpBuilder &b, const ptx::InlineAsm &code,
                            ValueRange arguments);

SmallVector<Value> extractAll(ImplicitLocOpBuilder &b, Value vector);
Value combine(ImplicitLocOpBuilder &b, VectorType type, ValueRange values);

} // namespace mlir::mla::wg

#endif // MLA_LIB_CONVERSION_WARPGROUPTONVVM_THREAD_H
