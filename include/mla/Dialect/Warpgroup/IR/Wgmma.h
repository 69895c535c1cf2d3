//===- Wgmma.h - What the warpgroup's matrix instruction takes --*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma multiplies 64 rows of A by n columns of B over k = 256 bits of each.
// B comes from shared memory, A from there or from registers (Layouts.h), and
// the product stays in registers. A longer inner dimension is a sequence of
// such steps. What lies in shared memory is named by a 64-bit descriptor, which
// tells how to find the rows of a panel, and the next panel, from a start. A
// step moves the start and leaves the rest as it is.
//
// An operand is stored in one of two ways, whichever of its dimensions runs
// along a line of its tile:
//
//   * K-major: rows of the tile are rows of A or columns of B, and a line runs
//     along k. Scores are such a product, Q K^T: both have a line per token.
//   * MN-major: rows of the tile are k. Values are such a B, P V: a line per
//     key, and keys are what is summed over. 16-bit types only, and never for A
//     in registers.
//
// Descriptor fields and their names are those of the PTX ISA:
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-shared-memory-layout-matrix-descriptor
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_WARPGROUP_IR_WGMMA_H
#define MLA_DIALECT_WARPGROUP_IR_WGMMA_H

#include "mla/Dialect/Warpgroup/IR/Layouts.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::mla::wg {

//===----------------------------------------------------------------------===//
// The instruction
//===----------------------------------------------------------------------===//

enum class OperandType : uint8_t { F16, BF16, TF32, E4M3, E5M2 };
enum class AccumulatorType : uint8_t { F16, F32 };

/// Width in registers and shared memory.
int64_t getBits(OperandType type);
/// As in PTX: "bf16".
llvm::StringRef getName(OperandType type);
llvm::StringRef getName(AccumulatorType type);

enum class Major : uint8_t { K, MN };
llvm::StringRef getName(Major major);

/// One shape and type of the instruction.
struct WgmmaInstruction {
  static constexpr int64_t m = rowsPerWarpgroup;
  /// Bytes of a row of A, or a column of B, that a step takes.
  static constexpr int64_t bytesPerStep = 32;

  int64_t n = 0;
  OperandType a = OperandType::BF16;
  OperandType b = OperandType::BF16;
  AccumulatorType accumulator = AccumulatorType::F32;
  Major aMajor = Major::K;
  Major bMajor = Major::K;

  int64_t getK() const { return bytesPerStep * 8 / getBits(a); }

  /// Why there is no such instruction, if there is none.
  std::optional<std::string> findProblem() const;

  /// "m64n128k16 f32 += bf16 (K) * bf16 (MN)".
  void print(llvm::raw_ostream &os) const;
};

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

/// Where an operand is in shared memory. Addresses and offsets are stored
/// without their four lowest bits, which are 0.
struct MatrixDescriptor {
  /// The bits of an address that a descriptor uses. In a cluster the bits above
  /// tell whose shared memory it is; unmasked they would spill into the next
  /// field in every block but the first.
  static constexpr uint32_t addressMask = 0x3ffff;

  uint64_t startAddress : 14;
  uint64_t : 2;
  /// K-major: ignored with a swizzle; without, from one 16-byte chunk to the
  /// next along k. MN-major: with a swizzle from one panel to the next;
  /// without, from eight rows of k to the next eight.
  uint64_t leadingByteOffset : 14;
  uint64_t : 2;
  /// K-major, and MN-major with a swizzle: from eight lines to the next eight.
  /// MN-major without: from one panel to the next.
  uint64_t strideByteOffset : 14;
  uint64_t : 3;
  /// Bits 7 to 9 of where the swizzle's pattern starts: 0 for aligned tiles.
  uint64_t baseOffset : 3;
  uint64_t : 10;
  /// 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes.
  uint64_t swizzle : 2;

  /// Of a tile at an address of shared memory. With address 0 it is the
  /// constant part: (address & addressMask) >> 4 added to it, at run time,
  /// gives the descriptor.
  static MatrixDescriptor get(const SharedTile &tile, Major major,
                              uint32_t address = 0);
  static MatrixDescriptor decode(uint64_t bits);

  uint64_t encode() const;

  void print(llvm::raw_ostream &os) const;
};

/// Why a tile cannot be an operand stored this way, if it cannot.
std::optional<std::string> findOperandProblem(const SharedTile &tile,
                                              Major major);

/// What the steps over a whole tile add to its descriptor, in 16-byte units and
/// in order. `start`: bytes from the descriptor's address to the tile, a
/// multiple of 16, for a product over several tiles that lie side by side.
llvm::SmallVector<int64_t> getStepOffsets(const SharedTile &tile, Major major,
                                          int64_t start = 0);

} // namespace mlir::mla::wg

#endif // MLA_DIALECT_WARPGROUP_IR_WGMMA_H
