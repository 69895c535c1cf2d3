//===- Printer.cpp - PTX text with typed operands ---------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Target/PTX/Printer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir::mla::ptx;
using namespace mlir::mla;

//===----------------------------------------------------------------------===//
// AsmBuilder
//===----------------------------------------------------------------------===//

/// The type of a register's declaration.
static llvm::StringRef getDeclaredType(Reg reg) {
  switch (reg) {
  case Reg::Pred:
    return "pred";
  case Reg::B16:
    return "b16";
  case Reg::B32:
    return "b32";
  case Reg::B64:
    return "b64";
  case Reg::F32:
    return "f32";
  case Reg::F64:
    return "f64";
  }
  llvm_unreachable("all cases are above");
}

Operand AsmBuilder::result(Reg reg) {
  resultInfos.push_back({reg, /*isInout=*/false});
  return {Operand::Result, unsigned(resultInfos.size() - 1)};
}

Operand AsmBuilder::inout(Reg reg) {
  resultInfos.push_back({reg, /*isInout=*/true});
  return {Operand::Result, unsigned(resultInfos.size() - 1)};
}

Operand AsmBuilder::input(Reg reg) {
  inputRegs.push_back(reg);
  return {Operand::Input, unsigned(inputRegs.size() - 1)};
}

Operand AsmBuilder::scratch(Reg reg, llvm::StringRef name) {
  scratchInfos.push_back({reg, name.str()});
  return {Operand::Scratch, unsigned(scratchInfos.size() - 1)};
}

llvm::SmallVector<Operand> AsmBuilder::results(Reg reg, unsigned count) {
  llvm::SmallVector<Operand> operands;
  for (unsigned i = 0; i < count; ++i)
    operands.push_back(result(reg));
  return operands;
}

llvm::SmallVector<Operand> AsmBuilder::inouts(Reg reg, unsigned count) {
  llvm::SmallVector<Operand> operands;
  for (unsigned i = 0; i < count; ++i)
    operands.push_back(inout(reg));
  return operands;
}

llvm::SmallVector<Operand> AsmBuilder::inputs(Reg reg, unsigned count) {
  llvm::SmallVector<Operand> operands;
  for (unsigned i = 0; i < count; ++i)
    operands.push_back(input(reg));
  return operands;
}

void AsmBuilder::add(llvm::StringRef text) {
  // LLVM reads a single dollar as the start of an operand.
  std::string escaped;
  for (char c : text)
    escaped.append(c == '$' ? 2 : 1, c);
  lines.back().push_back({escaped, std::nullopt});
}

void AsmBuilder::add(int64_t number) { add(std::to_string(number)); }

void AsmBuilder::add(Operand operand) { lines.back().push_back({"", operand}); }

void AsmBuilder::add(llvm::ArrayRef<Operand> operands) {
  add("{");
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (i)
      add(", ");
    add(operand);
  }
  add("}");
}

std::string AsmBuilder::getText(Operand operand, unsigned numInouts) const {
  switch (operand.kind) {
  case Operand::Result:
    return "$" + std::to_string(operand.index);
  case Operand::Input:
    return "$" + std::to_string(resultInfos.size() + numInouts + operand.index);
  case Operand::Scratch:
    return scratchInfos[operand.index].name;
  }
  llvm_unreachable("all cases are above");
}

InlineAsm AsmBuilder::build() const {
  InlineAsm result;

  // A result written by one line while a later line still reads an input must
  // not share that input's register. LLVM does let them share if the input dies
  // here, unless the result is marked (&). An inout cannot share: it has a
  // value while the input has.
  bool isMarked = lines.size() > 1 && !inputRegs.empty();
  llvm::SmallVector<std::string> constraints;
  for (ResultInfo info : resultInfos) {
    constraints.push_back(isMarked && !info.isInout ? "=&" : "=");
    constraints.back() += char(info.reg);
    result.results.push_back(info.reg);
  }
  for (auto [i, info] : llvm::enumerate(resultInfos))
    if (info.isInout) {
      constraints.push_back(std::to_string(i));
      result.arguments.push_back(info.reg);
    }
  unsigned numInouts = result.arguments.size();
  for (Reg reg : inputRegs) {
    constraints.emplace_back(1, char(reg));
    result.arguments.push_back(reg);
  }
  result.constraints = llvm::join(constraints, ",");

  // Braces make scratch registers local to the text, which may occur often.
  llvm::SmallVector<std::string> texts;
  if (!scratchInfos.empty())
    texts.push_back("{");
  for (const ScratchInfo &info : scratchInfos)
    texts.push_back(
        (".reg ." + getDeclaredType(info.reg) + " " + info.name + ";").str());
  for (const std::vector<Piece> &line : lines) {
    std::string &text = texts.emplace_back();
    for (const Piece &piece : line)
      text += piece.operand ? getText(*piece.operand, numInouts) : piece.text;
  }
  if (!scratchInfos.empty())
    texts.push_back("}");
  result.text = llvm::join(texts, "\n");
  return result;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Registers of A for one step: 64 x 256 bits over 128 threads.
static constexpr int64_t aRegistersPerStep = 4;

int64_t WgmmaGroup::getNumResults() const {
  int64_t elements = instruction.n / 2;
  return instruction.accumulator == wg::AccumulatorType::F16 ? elements / 2
                                                             : elements;
}

std::optional<std::string> WgmmaGroup::findProblem() const {
  if (auto problem = instruction.findProblem())
    return problem;
  if (bOffsets.empty())
    return "expected at least one step";
  if (isAInRegisters() && instruction.aMajor == wg::Major::MN)
    return "expected A in registers to be K-major";
  if (!isAInRegisters() && aOffsets.size() != bOffsets.size())
    return "expected as many steps of A as of B, got " +
           std::to_string(aOffsets.size()) + " and " +
           std::to_string(bOffsets.size());
  if ((!aDescriptors.empty() && aDescriptors.size() != aOffsets.size()) ||
      (!bDescriptors.empty() && bDescriptors.size() != bOffsets.size()))
    return "expected a descriptor for each step";
  return std::nullopt;
}

/// How many descriptors the steps of an operand start from.
static unsigned countDescriptors(llvm::ArrayRef<unsigned> ofSteps) {
  return ofSteps.empty() ? 1 : *llvm::max_element(ofSteps) + 1;
}

InlineAsm ptx::printWgmmaGroup(const WgmmaGroup &group) {
  assert(!group.findProblem() && "to be checked before");
  const wg::WgmmaInstruction &instruction = group.instruction;
  bool isA16Bits = wg::getBits(instruction.a) == 16;
  unsigned steps = group.bOffsets.size();

  AsmBuilder b;
  Reg reg =
      instruction.accumulator == wg::AccumulatorType::F16 ? Reg::B32 : Reg::F32;
  auto product = group.accumulate ? b.inouts(reg, group.getNumResults())
                                  : b.results(reg, group.getNumResults());
  auto a = group.isAInRegisters()
               ? b.inputs(Reg::B32, aRegistersPerStep * steps)
               : b.inputs(Reg::B64, countDescriptors(group.aDescriptors));
  auto bDescriptors = b.inputs(Reg::B64, countDescriptors(group.bDescriptors));
  auto descriptorOf = [](llvm::ArrayRef<Operand> operands,
                         llvm::ArrayRef<unsigned> ofSteps, unsigned step) {
    return operands[ofSteps.empty() ? 0 : ofSteps[step]];
  };

  // Whether a step adds to the registers of the product is a predicate.
  std::optional<Operand> no, moved[2];
  if (!group.accumulate) {
    no = b.scratch(Reg::Pred, "no");
    b.instruction("setp.ne.b32 ", *no, ", 0, 0");
  }
  std::optional<Operand> yes;
  if (group.accumulate || steps > 1) {
    yes = b.scratch(Reg::Pred, "yes");
    b.instruction("setp.ne.b32 ", *yes, ", 1, 0");
  }

  // The additions belong here. As values of LLVM they end up far ahead of the
  // instruction, all at once; ptxas then keeps every sum in a register of its
  // own, and the kernel is a quarter slower.
  auto move = [&](Operand descriptor, int64_t offset, llvm::StringRef name,
                  std::optional<Operand> &scratch) {
    if (!offset)
      return descriptor;
    if (!scratch)
      scratch = b.scratch(Reg::B64, name);
    b.instruction("add.s64 ", *scratch, ", ", descriptor, ", ", offset);
    return *scratch;
  };

  std::string mnemonic =
      ("wgmma.mma_async.sync.aligned.m64n" + llvm::Twine(instruction.n) + "k" +
       llvm::Twine(instruction.getK()) + "." +
       wg::getName(instruction.accumulator) + "." + wg::getName(instruction.a) +
       "." + wg::getName(instruction.b) + " ")
          .str();
  // Factors of A and B, then which of the two are MN-major, where the type
  // allows the question.
  std::string modifiers = ", 1, 1";
  auto addMajor = [&](wg::Major major) {
    modifiers += major == wg::Major::MN ? ", 1" : ", 0";
  };
  if (isA16Bits && !group.isAInRegisters())
    addMajor(instruction.aMajor);
  if (isA16Bits)
    addMajor(instruction.bMajor);

  b.instruction("wgmma.fence.sync.aligned");
  for (unsigned i = 0; i < steps; ++i) {
    Operand scale = i == 0 && no ? *no : *yes;
    Operand bDescriptor = descriptorOf(bDescriptors, group.bDescriptors, i);
    if (group.isAInRegisters()) {
      auto registers =
          llvm::ArrayRef(a).slice(aRegistersPerStep * i, aRegistersPerStep);
      Operand bStep = move(bDescriptor, group.bOffsets[i], "b", moved[1]);
      b.instruction(mnemonic, product, ", ", registers, ", ", bStep, ", ",
                    scale, modifiers);
    } else {
      Operand aStep = move(descriptorOf(a, group.aDescriptors, i),
                           group.aOffsets[i], "a", moved[0]);
      Operand bStep = move(bDescriptor, group.bOffsets[i], "b", moved[1]);
      b.instruction(mnemonic, product, ", ", aStep, ", ", bStep, ", ", scale,
                    modifiers);
    }
  }
  b.instruction("wgmma.commit_group.sync.aligned");
  return b.build();
}

InlineAsm ptx::printWgmmaWait(int64_t pending, llvm::ArrayRef<Reg> values) {
  AsmBuilder b;
  for (Reg reg : values)
    b.inout(reg);
  b.instruction("wgmma.wait_group.sync.aligned ", pending);
  return b.build();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

InlineAsm ptx::printPredicatedArrive() {
  AsmBuilder b;
  Operand barrier = b.input(Reg::B32);
  Operand predicate = b.input(Reg::Pred);
  b.instruction("@", predicate, " mbarrier.arrive.shared::cta.b64 _, [",
                barrier, "]");
  return b.build();
}

InlineAsm ptx::printAddressOf(llvm::StringRef variable) {
  AsmBuilder b;
  Operand result = b.result(Reg::B32);
  b.instruction("mov.b32 ", result, ", ", variable);
  return b.build();
}

InlineAsm ptx::printTanh() {
  AsmBuilder b;
  Operand result = b.result(Reg::F32);
  Operand x = b.input(Reg::F32);
  b.instruction("tanh.approx.f32 ", result, ", ", x);
  return b.build();
}
