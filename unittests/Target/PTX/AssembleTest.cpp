//===- AssembleTest.cpp - PTX to machine code with ptxas ------------------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With a shell script in the place of ptxas, so that these run anywhere, and
// with the real one where there is one.
//
//===----------------------------------------------------------------------===//

#include "mla/Target/PTX/Assemble.h"

#include "Environment.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <optional>

using namespace mlir::mla::ptx;

namespace {

class AssembleTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("mla-ptx-test", folder));
    // No ptxas but those of the test.
    environment.set("MLA_PTXAS", std::nullopt);
    environment.set("CUDA_HOME", std::nullopt);
    environment.set("PATH", getPath("empty"));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string getPath(llvm::StringRef name) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return path.str().str();
  }

  void write(const std::string &path, llvm::StringRef text) {
    llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
    std::error_code error;
    llvm::raw_fd_ostream os(path, error);
    ASSERT_FALSE(error);
    os << text;
  }

  std::string read(const std::string &path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

  /// A program that stands for ptxas: the body is shell, with the PTX in $ptx,
  /// the cubin in $cubin, and all arguments in $all.
  std::string writeFake(llvm::StringRef name, llvm::StringRef body) {
    std::string path = getPath(name);
    write(path,
          ("#!/bin/sh\nall=\"$*\"\nwhile [ $# -gt 0 ]; do case $1 in\n"
           "  -o) cubin=$2; shift;; -*) ;; *) ptx=$1;; esac; shift; done\n" +
           body + "\n")
              .str());
    llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_all);
    return path;
  }

  llvm::SmallString<128> folder;
  Environment environment;
};

std::string getMessage(llvm::Error error) {
  return llvm::toString(std::move(error));
}

//===----------------------------------------------------------------------===//
// Finding ptxas
//===----------------------------------------------------------------------===//

TEST_F(AssembleTest, FindsPtxasInOrder) {
  std::string package = getPath("package");
  std::string inFolder = writeFake("package/bin/ptxas", "");
  auto found = findPtxas({package});
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(*found, inFolder);
  // The folder itself may hold it too.
  found = findPtxas({package + "/bin"});
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(*found, inFolder);

  std::string inHome = writeFake("cuda/bin/ptxas", "");
  environment.set("CUDA_HOME", getPath("cuda"));
  found = findPtxas({package});
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(*found, inHome);

  std::string onPath = writeFake("second/ptxas", "");
  environment.set("PATH", getPath("empty") + "::" + getPath("second"));
  found = findPtxas({package});
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(*found, onPath);

  std::string named = writeFake("mine", "");
  environment.set("MLA_PTXAS", named);
  found = findPtxas({package});
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(*found, named);
  // Set to nothing is not set.
  environment.set("MLA_PTXAS", "");
  found = findPtxas({package});
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(*found, onPath);
}

TEST_F(AssembleTest, SaysWhereItLooked) {
  environment.set("CUDA_HOME", "/no/cuda");
  auto found = findPtxas({"/no/package"});
  ASSERT_FALSE(bool(found));
  EXPECT_EQ(getMessage(found.takeError()),
            "ptxas not found; put it on PATH, or set MLA_PTXAS to it or "
            "CUDA_HOME to the toolkit, or install the Python package "
            "nvidia-cuda-nvcc. Looked in " +
                getPath("empty") +
                ", /no/cuda/bin, /no/package, /no/package/bin");
  environment.set("CUDA_HOME", std::nullopt);
  environment.set("PATH", std::nullopt);
  auto result = assemble("");
  ASSERT_FALSE(bool(result));
  EXPECT_NE(getMessage(result.takeError()).find("Looked in no folder"),
            std::string::npos);
}

TEST_F(AssembleTest, TheVariableIsNotSilentlyIgnored) {
  writeFake("path/ptxas", "");
  environment.set("PATH", getPath("path"));
  environment.set("MLA_PTXAS", "/no/such/ptxas");
  auto found = findPtxas();
  ASSERT_FALSE(bool(found));
  EXPECT_EQ(getMessage(found.takeError()),
            "MLA_PTXAS: '/no/such/ptxas' is not a program");
}

//===----------------------------------------------------------------------===//
// Running it
//===----------------------------------------------------------------------===//

TEST_F(AssembleTest, PassesOptionsAndReadsResults) {
  std::string log = getPath("arguments");
  environment.set("MLA_PTXAS",
                  writeFake("fake", "echo \"$all\" > " + log +
                                        "\n{ printf 'a\\000b'; read line < "
                                        "\"$ptx\"; printf %s \"$line\"; } > "
                                        "\"$cubin\"\n"
                                        "echo out\necho err >&2"));
  AssembleOptions options;
  options.chip = "sm_123";
  options.optLevel = 1;
  options.arguments = {"--one", "two words; $(x)"};
  auto result = assemble("text; 'of' $ptx\n", options);
  ASSERT_TRUE(bool(result)) << getMessage(result.takeError());
  EXPECT_EQ(result->cubin, std::string("a\0b", 3) + "text; 'of' $ptx");
  EXPECT_EQ(result->output, "out\nerr\n");
  EXPECT_EQ(read(log).rfind("-arch=sm_123 -O1 -v --one two words; $(x) ", 0),
            0u)
      << read(log);
}

TEST_F(AssembleTest, FailuresHaveTheOutput) {
  std::string fake = writeFake(
      "fake", "echo \"ptxas $ptx, line 3; error   : no\" >&2; exit 255");
  environment.set("MLA_PTXAS", fake);
  AssembleOptions options;
  options.name = "prefill.ptx";
  auto result = assemble("", options);
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(getMessage(result.takeError()),
            "'" + fake + "' refused prefill.ptx (exit status 255)\n" +
                "ptxas prefill.ptx, line 3; error   : no\n");

  fake = writeFake("fake2", "echo hello; kill -9 $$");
  environment.set("MLA_PTXAS", fake);
  result = assemble("");
  ASSERT_FALSE(bool(result));
  std::string message = getMessage(result.takeError());
  EXPECT_EQ(message.rfind("'" + fake + "' failed: ", 0), 0u) << message;
  EXPECT_NE(message.find("\nhello\n"), std::string::npos) << message;

  fake = writeFake("fake3", "echo done");
  environment.set("MLA_PTXAS", fake);
  result = assemble("");
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(getMessage(result.takeError()),
            "'" + fake + "' wrote no output\ndone\n");
}

TEST_F(AssembleTest, LeavesNoFiles) {
  llvm::sys::fs::create_directories(getPath("tmp"));
  environment.set("TMPDIR", getPath("tmp"));
  for (const char *body : {": > $cubin.more; echo x > $cubin", "exit 1"}) {
    environment.set("MLA_PTXAS", writeFake("fake", body));
    llvm::consumeError(assemble("").takeError());
    std::error_code error;
    llvm::sys::fs::directory_iterator it(getPath("tmp"), error), end;
    EXPECT_FALSE(error);
    EXPECT_TRUE(it == end) << it->path();
  }
}

TEST_F(AssembleTest, DescribesPtxas) {
  auto none = describePtxas();
  ASSERT_TRUE(bool(none));
  EXPECT_EQ(*none, "no ptxas");

  std::string fake = writeFake("fake", "echo \"release 1, $all\"");
  environment.set("MLA_PTXAS", fake);
  auto one = describePtxas();
  ASSERT_TRUE(bool(one));
  EXPECT_EQ(*one, fake + "\nrelease 1, --version\n");

  environment.set("MLA_PTXAS", writeFake("broken", "exit 3"));
  auto broken = describePtxas();
  ASSERT_FALSE(bool(broken));
  EXPECT_EQ(getMessage(broken.takeError()),
            "'" + getPath("broken") + "' failed: exit status 3");
}

//===----------------------------------------------------------------------===//
// The real one
//===----------------------------------------------------------------------===//

constexpr const char *header =
    ".version 8.0\n.target sm_90a\n.address_size 64\n";

TEST(RealPtxas, KernelsAndProblems) {
  if (auto path = findPtxas(); !path)
    GTEST_SKIP() << getMessage(path.takeError());
  auto result = assemble(std::string(header) + R"(
.visible .entry copy(.param .u64 out)
.reqntid 128
{
 .reg .b32 x; .reg .b64 o;
 .shared .align 4 .b8 shared[512];
 ld.param.u64 o, [out];
 ld.global.b32 x, [o];
 st.shared.b32 [shared], x;
 bar.sync 0;
 ld.shared.b32 x, [shared+4];
 st.global.b32 [o], x;
 ret;
}
.visible .entry reads_too_early(.param .u64 out)
.reqntid 128
{
 .reg .f32 f<4>; .reg .b64 o, d; .reg .pred p;
 ld.param.u64 o, [out];
 mov.b64 d, 0;
 setp.ne.b32 p, 0, 0;
 wgmma.fence.sync.aligned;
 wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {f0, f1, f2, f3}, d, d, p, 1, 1, 0, 0;
 wgmma.commit_group.sync.aligned;
 st.global.f32 [o], f0;
 wgmma.wait_group.sync.aligned 0;
 ret;
})");
  ASSERT_TRUE(bool(result)) << getMessage(result.takeError());
  EXPECT_EQ(result->cubin.substr(0, 4), "\x7f"
                                        "ELF");
  const PtxasReport &report = result->report;
  ASSERT_EQ(report.kernels.size(), 2u) << result->output;
  for (const KernelFacts &kernel : report.kernels) {
    EXPECT_TRUE(kernel.isEntry);
    EXPECT_GT(kernel.registers, 0);
    EXPECT_EQ(kernel.sharedBytes, kernel.name == "copy" ? 512 : 0);
    EXPECT_EQ(kernel.barriers, kernel.name == "copy" ? 1 : 0);
  }
  ASSERT_EQ(report.getProblems().size(), 1u) << result->output;
  EXPECT_EQ(report.getProblems()[0].substr(0, 3), "C75");
  EXPECT_NE(report.getProblems()[0].find("reads_too_early"), std::string::npos);
}

TEST(RealPtxas, Refusal) {
  if (auto path = findPtxas(); !path)
    GTEST_SKIP() << getMessage(path.takeError());
  auto result = assemble(std::string(header) +
                         ".visible .entry k()\n{\n foo.bar x;\n}\n");
  ASSERT_FALSE(bool(result));
  std::string message = getMessage(result.takeError());
  EXPECT_NE(message.find("ptxas <ptx>, line 6; error"), std::string::npos)
      << message;
}

} // namespace
