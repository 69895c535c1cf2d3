//===- PrinterTest.cpp - PTX text with typed operands ---------------------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Target/PTX/Printer.h"

#include "gtest/gtest.h"

using namespace mlir::mla;
using namespace mlir::mla::ptx;

namespace {

using Regs = llvm::SmallVector<Reg>;

//===----------------------------------------------------------------------===//
// AsmBuilder
//===----------------------------------------------------------------------===//

TEST(AsmBuilder, InputsAreNumberedAfterInouts) {
  AsmBuilder b;
  // Declared in an order of their own: numbers are known at the end only.
  Operand x = b.input(Reg::B32);
  Operand plain = b.result(Reg::F32);
  Operand sum = b.inout(Reg::F32);
  Operand y = b.input(Reg::B64);
  b.instruction("foo ", plain, ", ", sum, ", ", x, ", ", y, ", ", -3);
  InlineAsm result = b.build();
  EXPECT_EQ(result.text, "foo $0, $1, $3, $4, -3;");
  EXPECT_EQ(result.constraints, "=f,=f,1,r,l");
  EXPECT_EQ(result.results, (Regs{Reg::F32, Reg::F32}));
  EXPECT_EQ(result.arguments, (Regs{Reg::F32, Reg::B32, Reg::B64}));
}

TEST(AsmBuilder, ExampleOfTheHeader) {
  AsmBuilder b;
  Operand sum = b.inout(Reg::F32), x = b.input(Reg::F32);
  b.instruction("add.f32 ", sum, ", ", sum, ", ", x);
  InlineAsm add = b.build();
  EXPECT_EQ(add.text, "add.f32 $0, $0, $2;");
  EXPECT_EQ(add.constraints, "=f,0,f");
}

TEST(AsmBuilder, Lists) {
  AsmBuilder b;
  auto words = b.results(Reg::B32, 4);
  Operand address = b.input(Reg::B64);
  b.instruction("ld.volatile.global.v4.b32 ", words, ", [", address, "]");
  InlineAsm result = b.build();
  EXPECT_EQ(result.text, "ld.volatile.global.v4.b32 {$0, $1, $2, $3}, [$4];");
  EXPECT_EQ(result.constraints, "=r,=r,=r,=r,l");
}

TEST(AsmBuilder, ScratchRegistersAreLocal) {
  AsmBuilder b;
  Operand p = b.scratch(Reg::Pred, "p");
  Operand y = b.result(Reg::F64), x = b.inputs(Reg::B16, 1).front();
  b.instruction("setp.ne.b16 ", p, ", ", x, ", 0");
  b.instruction("@", p, " mov.f64 ", y, ", 0d0000000000000000");
  InlineAsm result = b.build();
  EXPECT_EQ(result.text, "{\n.reg .pred p;\nsetp.ne.b16 p, $1, 0;\n"
                         "@p mov.f64 $0, 0d0000000000000000;\n}");
  // Two lines: the result must not take the input's register.
  EXPECT_EQ(result.constraints, "=&d,h");
}

TEST(AsmBuilder, OnlyResultsBesideInputsAreMarked) {
  AsmBuilder b;
  b.result(Reg::F32);
  b.inout(Reg::F32);
  b.instruction("foo");
  b.instruction("bar");
  EXPECT_EQ(b.build().constraints, "=f,=f,1");
  b.input(Reg::B32);
  EXPECT_EQ(b.build().constraints, "=&f,=f,1,r");
}

TEST(AsmBuilder, DollarsAreEscaped) {
  AsmBuilder b;
  b.instruction("bra $L__BB0_1");
  EXPECT_EQ(b.build().text, "bra $$L__BB0_1;");
  EXPECT_EQ(b.build().constraints, "");
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

TEST(WgmmaGroup, BothOperandsInSharedMemory) {
  WgmmaGroup group;
  group.instruction.n = 8;
  group.aOffsets = {0, 2};
  group.bOffsets = {0, 1024};
  InlineAsm result = printWgmmaGroup(group);
  EXPECT_EQ(result.text, "{\n"
                         ".reg .pred no;\n"
                         ".reg .pred yes;\n"
                         ".reg .b64 a;\n"
                         ".reg .b64 b;\n"
                         "setp.ne.b32 no, 0, 0;\n"
                         "setp.ne.b32 yes, 1, 0;\n"
                         "wgmma.fence.sync.aligned;\n"
                         "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                         "{$0, $1, $2, $3}, $4, $5, no, 1, 1, 0, 0;\n"
                         "add.s64 a, $4, 2;\n"
                         "add.s64 b, $5, 1024;\n"
                         "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                         "{$0, $1, $2, $3}, a, b, yes, 1, 1, 0, 0;\n"
                         "wgmma.commit_group.sync.aligned;\n"
                         "}");
  EXPECT_EQ(result.constraints, "=&f,=&f,=&f,=&f,l,l");
  EXPECT_EQ(result.results, Regs(4, Reg::F32));
  EXPECT_EQ(result.arguments, Regs(2, Reg::B64));
}

TEST(WgmmaGroup, AInRegistersAccumulating) {
  WgmmaGroup group;
  group.instruction.n = 8;
  group.instruction.bMajor = wg::Major::MN;
  group.bOffsets = {0, 128};
  group.accumulate = true;
  InlineAsm result = printWgmmaGroup(group);
  EXPECT_EQ(result.text,
            "{\n"
            ".reg .pred yes;\n"
            ".reg .b64 b;\n"
            "setp.ne.b32 yes, 1, 0;\n"
            "wgmma.fence.sync.aligned;\n"
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
            "{$0, $1, $2, $3}, {$8, $9, $10, $11}, $16, yes, 1, 1, 1;\n"
            "add.s64 b, $16, 128;\n"
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
            "{$0, $1, $2, $3}, {$12, $13, $14, $15}, b, yes, 1, 1, 1;\n"
            "wgmma.commit_group.sync.aligned;\n"
            "}");
  EXPECT_EQ(result.constraints, "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r,r,r,l");
  Regs arguments(4, Reg::F32);
  arguments.append(8, Reg::B32);
  arguments.push_back(Reg::B64);
  EXPECT_EQ(result.arguments, arguments);
}

TEST(WgmmaGroup, OneStepOf8BitsIntoF16) {
  WgmmaGroup group;
  group.instruction = {16, wg::OperandType::E4M3, wg::OperandType::E5M2,
                       wg::AccumulatorType::F16};
  group.aOffsets = {6};
  group.bOffsets = {0};
  InlineAsm result = printWgmmaGroup(group);
  // Two f16 in a register, and no question of major dimensions.
  EXPECT_EQ(result.text, "{\n"
                         ".reg .pred no;\n"
                         ".reg .b64 a;\n"
                         "setp.ne.b32 no, 0, 0;\n"
                         "wgmma.fence.sync.aligned;\n"
                         "add.s64 a, $4, 6;\n"
                         "wgmma.mma_async.sync.aligned.m64n16k32.f16.e4m3.e5m2 "
                         "{$0, $1, $2, $3}, a, $5, no, 1, 1;\n"
                         "wgmma.commit_group.sync.aligned;\n"
                         "}");
  EXPECT_EQ(result.constraints, "=&r,=&r,=&r,=&r,l,l");
}

TEST(WgmmaGroup, ProblemsAreNamed) {
  WgmmaGroup group;
  group.instruction.n = 8;
  EXPECT_EQ(group.findProblem().value_or(""), "expected at least one step");
  group.bOffsets = {0, 128};
  EXPECT_EQ(group.findProblem().value_or(""), "");
  group.aOffsets = {0};
  EXPECT_EQ(group.findProblem().value_or(""),
            "expected as many steps of A as of B, got 1 and 2");
  group.aOffsets.clear();
  group.instruction.aMajor = wg::Major::MN;
  EXPECT_EQ(group.findProblem().value_or(""),
            "expected A in registers to be K-major");
  group.instruction.n = 7;
  EXPECT_EQ(group.findProblem().value_or(""),
            "expected n to be a multiple of 8 up to 256, got 7");
}

TEST(WgmmaGroup, Wait) {
  InlineAsm result = printWgmmaWait(1, {Reg::F32, Reg::F32, Reg::B32});
  EXPECT_EQ(result.text, "wgmma.wait_group.sync.aligned 1;");
  EXPECT_EQ(result.constraints, "=f,=f,=r,0,1,2");
  EXPECT_EQ(result.results, result.arguments);
  EXPECT_EQ(printWgmmaWait(0, {}).text, "wgmma.wait_group.sync.aligned 0;");
  EXPECT_EQ(printWgmmaWait(0, {}).constraints, "");
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

TEST(Barriers, PredicatedArrive) {
  InlineAsm result = printPredicatedArrive();
  EXPECT_EQ(result.text, "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];");
  EXPECT_EQ(result.constraints, "r,b");
  EXPECT_EQ(result.arguments, (Regs{Reg::B32, Reg::Pred}));
  EXPECT_TRUE(result.results.empty());
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

TEST(Addresses, OfAVariable) {
  InlineAsm result = printAddressOf("mla_shared");
  EXPECT_EQ(result.text, "mov.b32 $0, mla_shared;");
  EXPECT_EQ(result.constraints, "=r");
  EXPECT_EQ(result.results, (Regs{Reg::B32}));
  EXPECT_TRUE(result.arguments.empty());
}

} // namespace
