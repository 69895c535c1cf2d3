//===- LLVMTest.cpp - Printed PTX through LLVM and ptxas ------------------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// That text and constraints agree is LLVM's to judge, and that the instructions
// are right is ptxas's: kernels here go the whole way.
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/Warpgroup/IR/Layouts.h"
#include "mla/Target/PTX/Assemble.h"
#include "mla/Target/PTX/Printer.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir::mla;
using namespace mlir::mla::ptx;

namespace {

using Values = llvm::SmallVector<std::string>;

//===----------------------------------------------------------------------===//
// LLVM IR as text
//===----------------------------------------------------------------------===//

llvm::StringRef getLLVMType(Reg reg) {
  switch (reg) {
  case Reg::Pred:
    return "i1";
  case Reg::B16:
    return "i16";
  case Reg::B32:
    return "i32";
  case Reg::B64:
    return "i64";
  case Reg::F32:
    return "float";
  case Reg::F64:
    return "double";
  }
  return "";
}

class IRText {
public:
  std::string text;

  /// A line that makes a value.
  std::string value(const llvm::Twine &line) {
    std::string name = "%v" + std::to_string(count++);
    text += "  " + name + " = " + line.str() + "\n";
    return name;
  }

  void line(const llvm::Twine &line) { text += "  " + line.str() + "\n"; }

  /// A call of the assembly. Gives its results.
  Values call(const InlineAsm &assembly,
              llvm::ArrayRef<std::string> arguments) {
    EXPECT_EQ(arguments.size(), assembly.arguments.size());
    Values typed, types, results;
    for (auto [reg, argument] : llvm::zip(assembly.arguments, arguments))
      typed.push_back((getLLVMType(reg) + " " + argument).str());
    for (Reg reg : assembly.results)
      types.push_back(getLLVMType(reg).str());
    bool isStruct = types.size() > 1;
    std::string type = isStruct        ? "{" + llvm::join(types, ", ") + "}"
                       : types.empty() ? "void"
                                       : types.front();
    std::string quoted;
    llvm::raw_string_ostream os(quoted);
    llvm::printEscapedString(assembly.text, os);
    std::string body = "call " + type + " asm sideeffect \"" + quoted +
                       "\", \"" + assembly.constraints + "\"(" +
                       llvm::join(typed, ", ") + ")";
    if (types.empty()) {
      line(body);
      return {};
    }
    std::string result = value(body);
    if (!isStruct)
      return {result};
    for (size_t i = 0; i < types.size(); ++i)
      results.push_back(value("extractvalue " + type + " " + result + ", " +
                              std::to_string(i)));
    return results;
  }

private:
  int count = 0;
};

/// Around the body of a kernel of one warpgroup.
std::string makeModule(const std::string &body) {
  return R"(
target triple = "nvptx64-nvidia-cuda"
@shared = external addrspace(3) global [0 x i8], align 1024
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float, float)
define ptx_kernel void @kernel(ptr addrspace(1) %out, i32 %n) #0 {
)" + body +
         "}\nattributes #0 = { \"nvvm.reqntid\"=\"128\" }\n";
}

std::string compileToPTX(const std::string &ir) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(ir, diagnostic, context);
  if (!module) {
    ADD_FAILURE() << diagnostic.getLineNo() << ": "
                  << diagnostic.getMessage().str() << "\n"
                  << diagnostic.getLineContents().str();
    return "";
  }
  std::string error;
  llvm::Triple triple(module->getTargetTriple());
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    ADD_FAILURE() << error;
    return "";
  }
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, "sm_90a", "+ptx80", {}, std::nullopt, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
  module->setDataLayout(machine->createDataLayout());
  llvm::SmallString<0> ptx;
  llvm::raw_svector_ostream os(ptx);
  llvm::legacy::PassManager passes;
  EXPECT_FALSE(machine->addPassesToEmitFile(
      passes, os, nullptr, llvm::CodeGenFileType::AssemblyFile));
  passes.run(*module);
  return ptx.str().str();
}

/// Assembles where there is a ptxas, and fails the test on any problem.
void expectCleanAssembly(const std::string &ptx) {
  auto path = findPtxas();
  if (!path) {
    llvm::consumeError(path.takeError());
    return;
  }
  auto result = assemble(ptx);
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  for (const std::string &problem : result->report.getProblems())
    ADD_FAILURE() << problem;
  EXPECT_FALSE(result->report.kernels.empty());
}

int64_t countOccurrences(llvm::StringRef text, llvm::StringRef part) {
  return text.count(part);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// S = Q K^T, P = bf16(S), O = P V + O, in a loop: what the layouts, the
/// descriptors and the printed groups are for.
TEST(ThroughLLVM, TwoProducts) {
  using wg::Major;
  wg::SharedTile q(64, 192, 16, wg::Swizzle::Bytes128);
  wg::SharedTile k(128, 192, 16, wg::Swizzle::Bytes128);
  wg::SharedTile v(128, 128, 16, wg::Swizzle::Bytes128);

  WgmmaGroup scores;
  scores.instruction.n = 128;
  scores.aOffsets = wg::getStepOffsets(q, Major::K);
  scores.bOffsets = wg::getStepOffsets(k, Major::K);
  WgmmaGroup output;
  output.instruction.n = 128;
  output.instruction.bMajor = Major::MN;
  output.bOffsets = wg::getStepOffsets(v, Major::MN);
  output.accumulate = true;
  ASSERT_FALSE(scores.findProblem() || output.findProblem());

  IRText b;
  b.line("%base = ptrtoint ptr addrspace(3) @shared to i32");
  auto makeDescriptor = [&](const wg::SharedTile &tile, Major major,
                            int64_t offset) {
    auto address = b.value("add i32 %base, " + std::to_string(offset));
    auto masked = b.value("and i32 " + address + ", " +
                          std::to_string(wg::MatrixDescriptor::addressMask));
    auto units = b.value("lshr i32 " + masked + ", 4");
    auto wide = b.value("zext i32 " + units + " to i64");
    uint64_t rest = wg::MatrixDescriptor::get(tile, major).encode();
    return b.value("or i64 " + wide + ", " + std::to_string(rest));
  };
  auto qDescriptor = makeDescriptor(q, Major::K, 0);
  auto kDescriptor = makeDescriptor(k, Major::K, q.getSizeInBytes());
  auto vDescriptor =
      makeDescriptor(v, Major::MN, q.getSizeInBytes() + k.getSizeInBytes());
  b.line("br label %loop");
  b.text += "loop:\n";
  b.line("%i = phi i32 [0, %0], [%i1, %loop]");
  Values accumulator;
  for (int i = 0; i < 64; ++i)
    accumulator.push_back(b.value("phi float [0.0, %0], [%next" +
                                  std::to_string(i) + ", %loop]"));
  auto s = b.call(printWgmmaGroup(scores), {qDescriptor, kDescriptor});
  s = b.call(printWgmmaWait(0, llvm::SmallVector<Reg>(64, Reg::F32)), s);
  Values arguments = accumulator;
  // The accumulator's elements in order, in pairs, are operand A.
  for (int i = 0; i < 64; i += 2) {
    auto pair = b.value("call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float " +
                        s[i + 1] + ", float " + s[i] + ")");
    arguments.push_back(b.value("bitcast <2 x bfloat> " + pair + " to i32"));
  }
  arguments.push_back(vDescriptor);
  auto o = b.call(printWgmmaGroup(output), arguments);
  o = b.call(printWgmmaWait(0, llvm::SmallVector<Reg>(64, Reg::F32)), o);
  for (int i = 0; i < 64; ++i)
    b.line("%next" + std::to_string(i) + " = fadd float " + o[i] + ", 0.0");
  b.line("%lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
  b.line("%first = icmp eq i32 %lane, 0");
  b.call(printPredicatedArrive(), {"%base", "%first"});
  b.line("%i1 = add i32 %i, 1");
  b.line("%more = icmp slt i32 %i1, %n");
  b.line("br i1 %more, label %loop, label %done");
  b.text += "done:\n";
  for (int i = 0; i < 64; ++i) {
    auto address = b.value("getelementptr float, ptr addrspace(1) %out, i32 " +
                           std::to_string(i));
    b.line("store float %next" + std::to_string(i) + ", ptr addrspace(1) " +
           address);
  }
  b.line("ret void");

  std::string ptx = compileToPTX(makeModule(b.text));
  EXPECT_EQ(countOccurrences(ptx, "wgmma.mma_async"), 12 + 8);
  EXPECT_EQ(countOccurrences(ptx, "wgmma.commit_group"), 2);
  expectCleanAssembly(ptx);
}

/// A product whose registers feed the next round's A and die there. LLVM would
/// give an unmarked result the register of such an input, which the first step
/// then overwrites before the second step reads it.
TEST(ThroughLLVM, ResultsDoNotShareRegistersWithInputs) {
  WgmmaGroup group;
  group.instruction.n = 16;
  group.bOffsets = {0, 128};
  IRText b;
  b.line("br label %loop");
  b.text += "loop:\n";
  b.line("%i = phi i32 [0, %0], [%i1, %loop]");
  Values arguments;
  for (int i = 0; i < 8; ++i) {
    auto x =
        b.value("phi float [0.0, %0], [%next" + std::to_string(i) + ", %loop]");
    arguments.push_back(x);
  }
  for (std::string &argument : arguments)
    argument = b.value("bitcast float " + argument + " to i32");
  arguments.push_back("0");
  auto results = b.call(printWgmmaGroup(group), arguments);
  results =
      b.call(printWgmmaWait(0, llvm::SmallVector<Reg>(8, Reg::F32)), results);
  for (int i = 0; i < 8; ++i)
    b.line("%next" + std::to_string(i) + " = bitcast float " + results[i] +
           " to float");
  b.line("%i1 = add i32 %i, 1");
  b.line("%more = icmp slt i32 %i1, %n");
  b.line("br i1 %more, label %loop, label %done");
  b.text += "done:\n";
  b.line("store float %next0, ptr addrspace(1) %out");
  b.line("ret void");

  std::string ptx = compileToPTX(makeModule(b.text));
  // "... {results}, {A}, b, ...", in registers' names.
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(ptx).split(lines, '\n');
  int64_t groups = 0;
  for (llvm::StringRef line : lines) {
    if (!line.contains("wgmma.mma_async"))
      continue;
    ++groups;
    llvm::SmallVector<llvm::StringRef> parts, names;
    line.split(parts, '{');
    ASSERT_EQ(parts.size(), 3u) << line.str();
    std::set<llvm::StringRef> seen;
    for (llvm::StringRef part : llvm::drop_begin(parts)) {
      names.clear();
      part.split('}').first.split(names, ", ");
      for (llvm::StringRef name : names)
        EXPECT_TRUE(seen.insert(name).second) << line.str();
    }
    EXPECT_EQ(seen.size(), 8u + 4u);
  }
  EXPECT_EQ(groups, 2);
}

/// Shared pointers are 64 bits wide in LLVM; an address there needs 32.
TEST(ThroughLLVM, SharedPointersPassAs32Bits) {
  InlineAsm arrive = printPredicatedArrive();
  IRText b;
  b.line("%first = icmp eq i32 %n, 0");
  b.line("call void asm sideeffect \"" + arrive.text + "\", \"" +
         arrive.constraints + "\"(ptr addrspace(3) @shared, i1 %first)");
  b.line("ret void");
  std::string ptx = compileToPTX(makeModule(b.text));
  EXPECT_NE(ptx.find("_, [%r"), std::string::npos) << ptx;
  EXPECT_EQ(ptx.find("_, [%rd"), std::string::npos) << ptx;
  expectCleanAssembly(ptx);
}

//===----------------------------------------------------------------------===//
// Instructions, without LLVM
//===----------------------------------------------------------------------===//

/// The text as a PTX kernel: operand N is register xN.
std::string makeKernel(const InlineAsm &assembly, int index) {
  std::string text, declarations;
  unsigned number = 0;
  auto declare = [&](Reg reg) {
    llvm::StringRef types = "pred b16 b32 b64 f32 f64";
    static const std::string order = "bhrlfd";
    llvm::SmallVector<llvm::StringRef> names;
    types.split(names, ' ');
    declarations += (" .reg ." + names[order.find(char(reg))] + " x" +
                     llvm::Twine(number++) + ";\n")
                        .str();
  };
  for (Reg reg : assembly.results)
    declare(reg);
  for (Reg reg : assembly.arguments)
    declare(reg);
  for (char c : assembly.text)
    text += c == '$' ? 'x' : c;
  return ".visible .entry k" + std::to_string(index) + "()\n.reqntid 128\n{\n" +
         declarations + text + "\nwgmma.wait_group.sync.aligned 0;\n ret;\n}\n";
}

TEST(RealPtxas, TakesEveryLegalInstruction) {
  if (auto path = findPtxas(); !path)
    GTEST_SKIP() << llvm::toString(path.takeError());
  std::string ptx = ".version 8.0\n.target sm_90a\n.address_size 64\n";
  int64_t count = 0;
  auto add = [&](const WgmmaGroup &group) {
    if (!group.findProblem())
      ptx += makeKernel(printWgmmaGroup(group), count++);
  };
  WgmmaGroup group;
  group.bOffsets = {0, 2};
  using wg::AccumulatorType, wg::Major, wg::OperandType;
  // All sizes of the one that attention needs, and all kinds of one size.
  for (int64_t n = 8; n <= 256; n += 8) {
    group.instruction = {n};
    add(group);
  }
  EXPECT_EQ(count, 32);
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 5; ++b)
      for (auto accumulator : {AccumulatorType::F16, AccumulatorType::F32})
        for (Major aMajor : {Major::K, Major::MN})
          for (Major bMajor : {Major::K, Major::MN})
            for (bool accumulate : {false, true})
              for (bool inRegisters : {false, true}) {
                group.instruction = {
                    16,          OperandType(a), OperandType(b),
                    accumulator, aMajor,         bMajor};
                group.accumulate = accumulate;
                group.aOffsets.clear();
                if (!inRegisters)
                  group.aOffsets = {0, 2};
                add(group);
              }
  // 16 bits: f16 into f16 and f32, bf16 into f32, and each with 6 ways of
  // majors and places. tf32 with 2. 8 bits: 4 pairs, 2 accumulators, 2 places.
  EXPECT_EQ(count, 32 + 2 * (3 * 6 + 2 + 4 * 2 * 2));
  auto result = assemble(ptx);
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  EXPECT_EQ(int64_t(result->report.kernels.size()), count);
}

} // namespace
