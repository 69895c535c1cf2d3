//===- Wgmma.cpp - What the warpgroup's matrix instruction takes *- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/Warpgroup/IR/Wgmma.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"

using namespace mlir::mla::wg;

//===----------------------------------------------------------------------===//
// The instruction
//===----------------------------------------------------------------------===//

int64_t mlir::mla::wg::getBits(OperandType type) {
  switch (type) {
  case OperandType::F16:
  case OperandType::BF16:
    return 16;
  case OperandType::TF32:
    return 32;
  case OperandType::E4M3:
  case OperandType::E5M2:
    return 8;
  }
  llvm_unreachable("all cases are above");
}

llvm::StringRef mlir::mla::wg::getName(OperandType type) {
  switch (type) {
  case OperandType::F16:
    return "f16";
  case OperandType::BF16:
    return "bf16";
  case OperandType::TF32:
    return "tf32";
  case OperandType::E4M3:
    return "e4m3";
  case OperandType::E5M2:
    return "e5m2";
  }
  llvm_unreachable("all cases are above");
}

llvm::StringRef mlir::mla::wg::getName(AccumulatorType type) {
  return type == AccumulatorType::F16 ? "f16" : "f32";
}

llvm::StringRef mlir::mla::wg::getName(Major major) {
  return major == Major::K ? "K" : "MN";
}

static bool isF8(OperandType type) { return getBits(type) == 8; }

std::optional<std::string> WgmmaInstruction::findProblem() const {
  if (n < 8 || n > 256 || n % 8)
    return "expected n to be a multiple of 8 up to 256, got " +
           std::to_string(n);
  if (a != b && !(isF8(a) && isF8(b)))
    return (llvm::Twine(
                "expected A and B of one type, or both of 8 bits, got ") +
            getName(a) + " and " + getName(b))
        .str();
  if (accumulator == AccumulatorType::F16 &&
      (a == OperandType::BF16 || a == OperandType::TF32))
    return (llvm::Twine(getName(a)) + " accumulates in f32 only").str();
  if ((aMajor == Major::MN || bMajor == Major::MN) && getBits(a) != 16)
    return (llvm::Twine("only 16-bit types can be MN-major, got ") + getName(a))
        .str();
  return std::nullopt;
}

void WgmmaInstruction::print(llvm::raw_ostream &os) const {
  os << "m" << m << "n" << n << "k" << getK() << " " << getName(accumulator)
     << " += " << getName(a) << " (" << getName(aMajor) << ") * " << getName(b)
     << " (" << getName(bMajor) << ")";
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static uint64_t getCode(Swizzle swizzle) {
  switch (swizzle) {
  case Swizzle::None:
    return 0;
  case Swizzle::Bytes128:
    return 1;
  case Swizzle::Bytes64:
    return 2;
  case Swizzle::Bytes32:
    return 3;
  }
  llvm_unreachable("all cases are above");
}

/// An address or offset as a field.
static uint64_t getField(uint64_t bytes) {
  assert(bytes % 16 == 0 && "descriptors count 16 bytes");
  assert(bytes <= MatrixDescriptor::addressMask && "does not fit a field");
  return bytes >> 4;
}

MatrixDescriptor MatrixDescriptor::get(const SharedTile &tile, Major major,
                                       uint32_t address) {
  assert(!findOperandProblem(tile, major) && "to be checked before");
  Swizzle swizzle = tile.getSwizzle();
  // Eight lines of a panel, one after the other, are its smallest unit.
  int64_t group = getPeriod(swizzle);
  int64_t leading, stride = group;
  if (major == Major::MN) {
    leading = tile.getPanelStride();
    // Which of the two offsets is which depends on the swizzle.
    if (swizzle == Swizzle::None)
      std::swap(leading, stride);
  } else {
    // A step without swizzle takes two panels. With one it stays within a line.
    leading = swizzle == Swizzle::None ? tile.getPanelStride() : bytesPerChunk;
  }

  MatrixDescriptor descriptor = {};
  descriptor.startAddress = getField(address & addressMask);
  descriptor.leadingByteOffset = getField(leading);
  descriptor.strideByteOffset = getField(stride);
  descriptor.swizzle = getCode(swizzle);
  return descriptor;
}

// By shifts, since how a compiler places bit-fields is its own affair.

uint64_t MatrixDescriptor::encode() const {
  return uint64_t(startAddress) | uint64_t(leadingByteOffset) << 16 |
         uint64_t(strideByteOffset) << 32 | uint64_t(baseOffset) << 49 |
         uint64_t(swizzle) << 62;
}

MatrixDescriptor MatrixDescriptor::decode(uint64_t bits) {
  MatrixDescriptor descriptor = {};
  descriptor.startAddress = bits & 0x3fff;
  descriptor.leadingByteOffset = bits >> 16 & 0x3fff;
  descriptor.strideByteOffset = bits >> 32 & 0x3fff;
  descriptor.baseOffset = bits >> 49 & 7;
  descriptor.swizzle = bits >> 62;
  return descriptor;
}

void MatrixDescriptor::print(llvm::raw_ostream &os) const {
  static constexpr const char *names[] = {"none", "128 bytes", "64 bytes",
                                          "32 bytes"};
  os << "descriptor " << llvm::format_hex(encode(), 18) << ": start "
     << (startAddress << 4) << ", leading " << (leadingByteOffset << 4)
     << ", stride " << (strideByteOffset << 4) << ", base " << baseOffset
     << ", swizzle " << names[swizzle] << "\n";
}

std::optional<std::string>
mlir::mla::wg::findOperandProblem(const SharedTile &tile, Major major) {
  int64_t bits = tile.getElementBits();
  int64_t step = WgmmaInstruction::bytesPerStep * 8 / bits;
  if (major == Major::MN && bits != 16)
    return "expected 16-bit elements where k runs down the rows, got " +
           std::to_string(bits) + " bits";
  int64_t k = major == Major::K ? tile.getColumns() : tile.getRows();
  int64_t other = major == Major::K ? tile.getRows() : tile.getColumns();
  if (k % step)
    return "expected k to be a multiple of " + std::to_string(step) + ", got " +
           std::to_string(k);
  if (other % 8)
    return "expected the dimension beside k to be a multiple of 8, got " +
           std::to_string(other);
  if (tile.getSizeInBytes() > MatrixDescriptor::addressMask)
    return "expected less than 256 KB, got " +
           std::to_string(tile.getSizeInBytes()) + " bytes";
  return std::nullopt;
}

llvm::SmallVector<int64_t> mlir::mla::wg::getStepOffsets(const SharedTile &tile,
                                                         Major major,
                                                         int64_t start) {
  assert(!findOperandProblem(tile, major) && "to be checked before");
  assert(start % bytesPerChunk == 0 && "descriptors count 16 bytes");
  llvm::SmallVector<int64_t> offsets;
  if (major == Major::MN) {
    // A step is as many lines as elements of k.
    int64_t lines = WgmmaInstruction::bytesPerStep * 8 / tile.getElementBits();
    for (int64_t line = 0; line < tile.getRows(); line += lines)
      offsets.push_back((start + tile.getRowOffset(line)) / bytesPerChunk);
    return offsets;
  }
  int64_t lineBytes = tile.getColumns() * tile.getElementBits() / 8;
  int64_t width = getWidth(tile.getSwizzle());
  for (int64_t byte = 0; byte < lineBytes;
       byte += WgmmaInstruction::bytesPerStep) {
    int64_t panel = byte / width * tile.getPanelStride();
    offsets.push_back((start + panel + byte % width) / bytesPerChunk);
  }
  return offsets;
}
