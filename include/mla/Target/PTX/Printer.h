//===- Printer.h - PTX text with typed operands -----------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A few instructions reach PTX as inline assembly, because how they are written
// decides speed or correctness. An LLVM inline assembly has two strings that
// have to agree: the text names operands by number, the constraints say what
// each number is. The builder makes both from one description.
//
//     AsmBuilder b;
//     Operand sum = b.inout(Reg::F32), x = b.input(Reg::F32);
//     b.instruction("add.f32 ", sum, ", ", sum, ", ", x);
//     InlineAsm add = b.build();   // "add.f32 $0, $0, $2;"   "=f,0,f"
//
// Numbers run over the results, then over the values that enter in the
// registers of results, then over the other inputs. That is also the order of
// the call's results and arguments, which InlineAsm states as lists.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_TARGET_PTX_PRINTER_H
#define MLA_TARGET_PTX_PRINTER_H

#include "mla/Dialect/Warpgroup/IR/Wgmma.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::mla::ptx {

/// A kind of register, by the letter that stands for it in constraints. LLVM
/// takes a pointer to shared memory for B32 too, and passes its low half: all
/// that such an address needs, and half the registers.
enum class Reg : char {
  Pred = 'b', // i1
  B16 = 'h',  // i16
  B32 = 'r',  // i32
  B64 = 'l',  // i64 and pointers
  F32 = 'f',
  F64 = 'd'
};

/// One llvm.inline_asm, to be called with side effects.
struct InlineAsm {
  std::string text;
  std::string constraints;
  /// One result: that type; several: a struct of them.
  llvm::SmallVector<Reg> results;
  /// The values of inouts first, then the inputs.
  llvm::SmallVector<Reg> arguments;
};

/// A register in the text. Made by an AsmBuilder, and used only there.
class Operand {
  friend class AsmBuilder;
  enum Kind : uint8_t { Result, Input, Scratch };
  Operand(Kind kind, unsigned index) : kind(kind), index(index) {}

  Kind kind;
  unsigned index;
};

class AsmBuilder {
public:
  /// A value that the text makes.
  Operand result(Reg reg);
  /// A value that enters and leaves in one register.
  Operand inout(Reg reg);
  /// A value that the text only reads.
  Operand input(Reg reg);
  llvm::SmallVector<Operand> results(Reg reg, unsigned count);
  llvm::SmallVector<Operand> inouts(Reg reg, unsigned count);
  llvm::SmallVector<Operand> inputs(Reg reg, unsigned count);
  /// A register that exists in the text alone.
  Operand scratch(Reg reg, llvm::StringRef name);

  /// A line of text from its parts, ended by a semicolon. A part is text, an
  /// operand, a number, or a list of operands, which is written in braces.
  template <typename... Parts> void instruction(const Parts &...parts) {
    lines.emplace_back();
    (add(parts), ...);
    add(";");
  }

  InlineAsm build() const;

private:
  /// Text, and then an operand if there is one.
  struct Piece {
    std::string text;
    std::optional<Operand> operand;
  };
  struct ResultInfo {
    Reg reg;
    bool isInout;
  };
  struct ScratchInfo {
    Reg reg;
    std::string name;
  };

  void add(llvm::StringRef text);
  void add(int64_t number);
  void add(Operand operand);
  void add(llvm::ArrayRef<Operand> operands);
  std::string getText(Operand operand, unsigned numInouts) const;

  llvm::SmallVector<ResultInfo> resultInfos;
  llvm::SmallVector<Reg> inputRegs;
  llvm::SmallVector<ScratchInfo> scratchInfos;
  std::vector<std::vector<Piece>> lines;
};

//===----------------------------------------------------------------------===//
// The instructions that are written this way
//===----------------------------------------------------------------------===//

/// A product of a warpgroup, all its steps.
struct WgmmaGroup {
  wg::WgmmaInstruction instruction;
  /// What each step adds to the descriptor of B, and to that of A, in 16-byte
  /// units (wg::getStepOffsets). Without aOffsets A comes from registers.
  llvm::SmallVector<int64_t> bOffsets;
  llvm::SmallVector<int64_t> aOffsets;
  /// Which of several descriptors each step starts from; empty: all from one.
  llvm::SmallVector<unsigned> bDescriptors;
  llvm::SmallVector<unsigned> aDescriptors;
  /// Add to values that are passed in; otherwise the first step ignores what
  /// its registers hold.
  bool accumulate = false;

  bool isAInRegisters() const { return aOffsets.empty(); }
  /// Registers of 32 bits that hold the product.
  int64_t getNumResults() const;

  /// Why there is no such group, if there is none.
  std::optional<std::string> findProblem() const;
};

/// Issues a group and commits it; the product is not there before a wait.
/// Results: the product (F32, or B32 with two f16 each). Arguments: the same if
/// it accumulates; A, as descriptors (B64) or as four B32 for each step; the
/// descriptors of B (B64).
InlineAsm printWgmmaGroup(const WgmmaGroup &group);

/// Waits until at most `pending` committed groups are in flight. The values
/// that this makes readable enter and leave, since nothing else keeps LLVM from
/// moving their readers above the wait.
InlineAsm printWgmmaWait(int64_t pending, llvm::ArrayRef<Reg> values);

/// Arrives at an mbarrier in shared memory where a predicate holds. Never write
/// a branch for this: it ends the basic block, and conversions then move past
/// the next wait. Arguments: the address (B32), Pred.
InlineAsm printPredicatedArrive();

/// The address of a variable in shared memory (B32), made anew: neither LLVM
/// nor ptxas takes it for one that it has already.
InlineAsm printAddressOf(llvm::StringRef variable);

/// The hyperbolic tangent of an F32, of relative error 2^-11; LLVM has no
/// intrinsic for it. No side effects.
InlineAsm printTanh();

} // namespace mlir::mla::ptx

#endif // MLA_TARGET_PTX_PRINTER_H
