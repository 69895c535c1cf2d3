//===- ValuesTest.cpp - Values, options and comparisons of mla-run --------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Values.h"

#include "Compare.h"
#include "Options.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlarun;

namespace {

/// The value as text, or the error.
std::string parse(const std::string &text, Wanted wanted) {
  Array array;
  std::string error;
  if (!parseValue(text, wanted, array, error))
    return error;
  EXPECT_EQ(array.dtype, wanted.dtype);
  return formatShape(array.shape) + " " + formatArray(array);
}

TEST(Values, Scalars) {
  EXPECT_EQ(parse("0.5", {MLA_DTYPE_F32, {}}), "[] 0.5");
  EXPECT_EQ(parse("-inf", {MLA_DTYPE_F32, {}}), "[] -inf");
  EXPECT_EQ(parse("nan", {MLA_DTYPE_F32, {}}), "[] nan");
  EXPECT_EQ(parse("-3", {MLA_DTYPE_I32, {}}), "[] -3");
  EXPECT_EQ(parse("0x10", {MLA_DTYPE_U32, {}}), "[] 16");
  EXPECT_EQ(parse("1.5", {MLA_DTYPE_I32, {}}),
            "expected an integer, got '1.5'");
  EXPECT_EQ(parse("x", {MLA_DTYPE_F32, {}}), "expected a number, got 'x'");
  EXPECT_EQ(parse("", {MLA_DTYPE_F32, {}}), "expected a number, got ''");
  EXPECT_EQ(parse("-1", {MLA_DTYPE_U32, {}}),
            "expected numbers that fit ui32, got -1 at flat index 0");
}

TEST(Values, Lists) {
  EXPECT_EQ(parse("[1, 2]", {MLA_DTYPE_I32, {-1}}), "[2] [1, 2]");
  EXPECT_EQ(parse("[]", {MLA_DTYPE_I32, {-1}}), "[0] []");
  EXPECT_EQ(parse("[[1,2],[3,nan]]", {MLA_DTYPE_BF16, {-1, 2}}),
            "[2, 2] [[1, 2], [3, nan]]");
  EXPECT_EQ(parse("[[], []]", {MLA_DTYPE_F32, {-1, -1}}), "[2, 0] [[], []]");
  const std::string expected =
      "expected a .npy file, a list such as [1, 2], or "
      "zeros, ones, nan, iota or normal, got '";
  for (const char *bad : {"[1", "[1,]", "[1 2]", "[1,[2]]", "[[1],2]",
                          "[[1,2],[3]]", "[1]]", "1", "[[1],[[2]]]"})
    EXPECT_EQ(parse(bad, {MLA_DTYPE_F32, {-1}}), expected + bad + "'");
}

TEST(Values, Generators) {
  EXPECT_EQ(parse("zeros:1x2", {MLA_DTYPE_I32, {-1, 2}}), "[1, 2] [[0, 0]]");
  EXPECT_EQ(parse("iota", {MLA_DTYPE_I32, {3}}), "[3] [0, 1, 2]");
  EXPECT_EQ(parse("nan:1", {MLA_DTYPE_F32, {-1}}), "[1] [nan]");
  EXPECT_EQ(parse("ones:0x4", {MLA_DTYPE_F32, {-1, 4}}), "[0, 4] []");
  EXPECT_EQ(parse("normal:4:1", {MLA_DTYPE_F32, {-1}}),
            parse("normal:4:1", {MLA_DTYPE_F32, {-1}}));
  EXPECT_NE(parse("normal:4:1", {MLA_DTYPE_F32, {-1}}),
            parse("normal:4:2", {MLA_DTYPE_F32, {-1}}));
  EXPECT_EQ(parse("zeros", {MLA_DTYPE_F32, {-1, 4}}),
            "expected a shape, as in zeros:16x128x128, since extents of [?, 4] "
            "are dynamic");
  EXPECT_EQ(parse("zeros:4x", {MLA_DTYPE_F32, {-1}}),
            "expected a shape such as 16x128x128, got '4x'");
  EXPECT_EQ(parse("nan:1", {MLA_DTYPE_I32, {-1}}),
            "expected integers for i32, got nan");
  EXPECT_EQ(parse("zeros:99999999999x99999999999", {MLA_DTYPE_F32, {-1, -1}}),
            "no array can have the shape [99999999999, 99999999999]");
}

TEST(Values, ExpectationsKeepTheirDigits) {
  Array array;
  std::string error;
  ASSERT_TRUE(parseExpected("[0.1]", {MLA_DTYPE_BF16, {-1}}, array, error));
  EXPECT_EQ(array.get(0), 0.1);
}

Array makeFloats(std::vector<double> values) {
  Array array;
  std::string error;
  makeArray(MLA_DTYPE_F64, {static_cast<int64_t>(values.size())}, array, error);
  for (size_t i = 0; i < values.size(); ++i)
    array.set(static_cast<int64_t>(i), values[i]);
  return array;
}

TEST(Compare, UsesBothTolerances) {
  std::string report;
  Array got = makeFloats({1.01, 100.5}), expected = makeFloats({1, 100});
  EXPECT_TRUE(compare(got, expected, {0.01, 0.01}, report));
  EXPECT_EQ(report, "max abs error 0.5 at [1]");
  EXPECT_FALSE(compare(got, expected, {0.02, 0}, report));
  EXPECT_EQ(report,
            "1 of 2 elements are off by more than 0.02 + 0 * "
            "|expected|; the worst is [1]: expected 100, got 100.5, abs "
            "error 0.5");
}

TEST(Compare, TakesSpecialValuesExactly) {
  std::string report;
  double nan = NAN, inf = INFINITY;
  EXPECT_TRUE(compare(makeFloats({nan, inf, -inf}),
                      makeFloats({nan, inf, -inf}), {}, report));
  for (auto [got, expected] : {std::pair<double, double>{nan, 0},
                               {0, nan},
                               {inf, 1e308},
                               {1e308, inf},
                               {inf, -inf},
                               {nan, inf},
                               {inf, nan}})
    EXPECT_FALSE(
        compare(makeFloats({got}), makeFloats({expected}), {1, 1}, report));
}

TEST(Compare, WantsTheSameShape) {
  std::string report;
  EXPECT_FALSE(compare(makeFloats({1}), makeFloats({1, 2}), {}, report));
  EXPECT_EQ(report, "expected shape [2], got [1]");
  EXPECT_TRUE(compare(makeFloats({}), makeFloats({}), {}, report));
}

/// Parses a command line; the error, or empty.
std::string parseLine(std::vector<std::string> words, Options &options) {
  std::vector<char *> argv{const_cast<char *>("mla-run")};
  for (std::string &word : words)
    argv.push_back(word.data());
  std::string error;
  parseOptions(static_cast<int>(argv.size()), argv.data(), options, error);
  return error;
}

TEST(Options, TakesBothSpellings) {
  Options options;
  EXPECT_EQ(parseLine({"--arg", "%q=q.npy", "f.mlir", "--arg=scale=0.5",
                       "--tolerance=1,2", "--repeat", "3", "--time"},
                      options),
            "");
  EXPECT_EQ(options.file, "f.mlir");
  EXPECT_EQ(options.arguments, (Assignments{{"q", "q.npy"}, {"scale", "0.5"}}));
  EXPECT_EQ(options.tolerance.absolute, 1);
  EXPECT_EQ(options.tolerance.relative, 2);
  EXPECT_EQ(options.repeat, 3);
  EXPECT_TRUE(options.time);
}

TEST(Options, SaysWhatIsWrong) {
  auto error = [](std::vector<std::string> words) {
    Options options;
    return parseLine(std::move(words), options);
  };
  EXPECT_EQ(error({}), "expected a file; see mla-run --help");
  EXPECT_EQ(error({"a", "b"}), "expected one file, got 'a' and 'b'");
  EXPECT_EQ(error({"--frobnicate"}),
            "unknown option '--frobnicate'; see mla-run --help");
  EXPECT_EQ(error({"a", "--arg", "q"}), "--arg: expected NAME=VALUE, got 'q'");
  EXPECT_EQ(error({"a", "--arg"}), "--arg: expected NAME=VALUE");
  EXPECT_EQ(error({"a", "--repeat=0"}),
            "--repeat: expected an integer > 0, got '0'");
  EXPECT_EQ(error({"a", "--threads=-1"}),
            "--threads: expected an integer >= 0, got '-1'");
  EXPECT_EQ(error({"a", "--tolerance=-1"}),
            "--tolerance: expected a number >= 0, or two with a comma between "
            "them, got '-1'");
}

} // namespace
