//===- PtxasReportTest.cpp - What ptxas says ------------------------------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Target/PTX/Assemble.h"

#include "gtest/gtest.h"

using namespace mlir::mla::ptx;

namespace {

TEST(PtxasReport, Facts) {
  PtxasReport report = parsePtxasOutput(
      "ptxas info    : 64 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k2' for 'sm_90a'\n"
      "ptxas info    : Function properties for k2\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers\n"
      "ptxas info    : Compile time = 3.007 ms\n"
      "ptxas info    : Compiling entry function 'k1' for 'sm_90a'\n"
      "ptxas info    : Function properties for k1\n"
      "    280 bytes stack frame, 288 bytes spill stores, 292 bytes spill "
      "loads\n"
      "ptxas info    : Used 32 registers, used 16 barriers, 280 bytes "
      "cumulative stack size, 4096 bytes smem, 536 bytes cmem[0]\n"
      "ptxas info    : Compile time = 26.819 ms\n"
      "ptxas info    : Function properties for helper\n"
      "    64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
  EXPECT_TRUE(report.messages.empty());
  ASSERT_EQ(report.kernels.size(), 3u);
  const KernelFacts &k2 = report.kernels[0], &k1 = report.kernels[1],
                    &helper = report.kernels[2];
  EXPECT_EQ(k2.name, "k2");
  EXPECT_TRUE(k2.isEntry);
  EXPECT_EQ(k2.registers, 168);
  EXPECT_EQ(k2.barriers, 1);
  EXPECT_EQ(k2.sharedBytes, 0);
  EXPECT_EQ(k2.stackBytes, 0);
  EXPECT_EQ(k1.name, "k1");
  EXPECT_EQ(k1.registers, 32);
  EXPECT_EQ(k1.barriers, 16);
  EXPECT_EQ(k1.sharedBytes, 4096);
  EXPECT_EQ(k1.stackBytes, 280);
  EXPECT_EQ(k1.spillStoreBytes, 288);
  EXPECT_EQ(k1.spillLoadBytes, 292);
  EXPECT_EQ(helper.name, "helper");
  EXPECT_FALSE(helper.isEntry);
  EXPECT_EQ(helper.stackBytes, 64);

  EXPECT_EQ(report.getProblems(),
            (std::vector<std::string>{
                "'k1' spills registers: stores of 288 bytes, loads of 292",
                "'helper' keeps 64 bytes in local memory"}));
  std::string text;
  llvm::raw_string_ostream os(text);
  report.print(os);
  EXPECT_EQ(text,
            "'k2': 168 registers, 0 bytes of shared memory, 1 barriers\n"
            "'k1': 32 registers, 4096 bytes of shared memory, 16 barriers\n"
            "'k1' spills registers: stores of 288 bytes, loads of 292\n"
            "'helper' keeps 64 bytes in local memory\n");
}

TEST(PtxasReport, Messages) {
  PtxasReport report = parsePtxasOutput(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized due to ill formed pipeline stage in the "
      "function 'k'\n"
      "ptxas warning : Pragma 'foo' unsupported\n"
      "ptxas err.ptx, line 7; error   : Unknown modifier '.bar'\n"
      "ptxas /tmp/a, line 2/k.ptx, line 12; warning : odd\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n"
      "\n"
      "ptxas info    : something new\n"
      "sh: what\r\n");
  ASSERT_EQ(report.messages.size(), 7u);
  using Kind = Message::Kind;
  Kind kinds[] = {Kind::Advisory, Kind::Warning, Kind::Error, Kind::Warning,
                  Kind::Error,    Kind::Other,   Kind::Other};
  int64_t lines[] = {0, 0, 7, 12, 0, 0, 0};
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(report.messages[i].kind, kinds[i]) << i;
    EXPECT_EQ(report.messages[i].line, lines[i]) << i;
    EXPECT_EQ(report.messages[i].code, i ? "" : "C7510");
  }
  EXPECT_EQ(report.messages[2].text, "Unknown modifier '.bar'");
  EXPECT_EQ(report.messages[6].text, "sh: what");
  EXPECT_EQ(report.getProblems(),
            (std::vector<std::string>{
                "C7510: Potential Performance Loss: wgmma.mma_async "
                "instructions are serialized due to ill formed pipeline stage "
                "in the function 'k'",
                "Pragma 'foo' unsupported", "odd"}));
}

TEST(PtxasReport, Nothing) {
  EXPECT_TRUE(parsePtxasOutput("").kernels.empty());
  EXPECT_TRUE(parsePtxasOutput("\n\n").messages.empty());
  // Sizes that belong to no function are kept as text.
  EXPECT_EQ(parsePtxasOutput("    0 bytes stack frame\n").messages.size(), 1u);
}

// Registers that stay where they are matter only to a kernel that lacks some.
TEST(PtxasReport, RegistersThatStay) {
  std::string stays =
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' "
      "ignored; unable to determine register count at entry.\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n";
  PtxasReport report = parsePtxasOutput(
      stays + "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill "
              "loads\nptxas info    : Used 142 registers\n");
  EXPECT_TRUE(report.getProblems().empty());
  report = parsePtxasOutput(
      stays + "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill "
              "loads\nptxas info    : Used 168 registers\n");
  ASSERT_EQ(report.getProblems().size(), 2u);
  EXPECT_EQ(report.getProblems()[0].substr(0, 5), "C7508");
}

} // namespace
