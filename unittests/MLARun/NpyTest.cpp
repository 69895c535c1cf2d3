//===- NpyTest.cpp - .npy files -------------------------------------------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include "gtest/gtest.h"

using namespace mlarun;

namespace {

/// A file of some version around a header and data.
std::string makeFile(int version, const std::string &header,
                     const std::string &data) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  if (version > 1)
    file.append(2, '\0');
  return file + header + data;
}

std::string makeHeader(const std::string &descr, const std::string &shape) {
  return "{'descr': '" + descr +
         "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

TEST(Npy, ReadsWhatItWrites) {
  for (int32_t dtype = 0; dtype <= MLA_DTYPE_F8E4M3FN; ++dtype)
    for (const Shape &shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 4}}) {
      Array array, copy;
      std::string error;
      ASSERT_TRUE(makeArray(dtype, shape, array, error));
      for (int64_t i = 0; i < array.size(); ++i)
        array.set(i, static_cast<double>(i + 1));
      std::string contents = formatNpy(array);
      EXPECT_EQ((contents.size() - array.bytes.size()) % 64, 0u);
      ASSERT_TRUE(parseNpy(contents, dtype, copy, error)) << error;
      EXPECT_EQ(copy.dtype, dtype);
      EXPECT_EQ(copy.shape, shape);
      EXPECT_EQ(copy.bytes, array.bytes);
    }
}

TEST(Npy, ReadsAllVersions) {
  for (int version : {1, 2, 3}) {
    Array array;
    std::string error;
    std::string file = makeFile(version, makeHeader("<i4", "(2,)"),
                                std::string("\1\0\0\0\2\0\0\0", 8));
    ASSERT_TRUE(parseNpy(file, MLA_DTYPE_I32, array, error)) << error;
    EXPECT_EQ(array.shape, Shape{2});
    EXPECT_EQ(array.get(1), 2);
  }
}

TEST(Npy, TakesTheWantedTypeForRawTwoByteElements) {
  for (const char *descr : {"|V2", "<V2", "<u2"})
    for (int32_t wanted : {MLA_DTYPE_BF16, MLA_DTYPE_F16}) {
      Array array;
      std::string error;
      std::string file =
          makeFile(1, makeHeader(descr, "(1,)"), std::string("\x80\x3f", 2));
      ASSERT_TRUE(parseNpy(file, wanted, array, error)) << error;
      EXPECT_EQ(array.dtype, wanted);
      EXPECT_EQ(array.get(0), wanted == MLA_DTYPE_BF16 ? 1 : 1.875);
    }
}

TEST(Npy, SaysWhatIsWrong) {
  Array array;
  std::string error;
  auto parse = [&](const std::string &file) {
    return parseNpy(file, MLA_DTYPE_F32, array, error);
  };
  EXPECT_FALSE(parse("no file"));
  EXPECT_EQ(error, "not a .npy file");
  EXPECT_FALSE(parse(makeFile(4, makeHeader("<f4", "()"), "1234")));
  EXPECT_EQ(error, "expected .npy format version 1, 2 or 3, got 4");
  EXPECT_FALSE(parse(makeFile(1, makeHeader(">f4", "()"), "1234")));
  EXPECT_EQ(error, "expected elements of a little-endian float or of a 32- or "
                   "64-bit integer type, got '>f4'");
  EXPECT_FALSE(parse(makeFile(1, makeHeader("|O", "()"), "1234")));
  EXPECT_FALSE(parse(makeFile(1, makeHeader("<f4", "(2,)"), "1234")));
  EXPECT_EQ(error, "truncated: shape [2] of f32 needs more than 4 bytes");
  EXPECT_FALSE(parse(
      makeFile(1, makeHeader("<f4", "(9223372036854775807, 8)"), "1234")));
  EXPECT_FALSE(parse(makeFile(1, makeHeader("<f4", "(-1,)"), "1234")));
  EXPECT_EQ(error, "cannot read the shape in the .npy header");
  EXPECT_FALSE(parse(makeFile(1,
                              "{'descr': '<f4', 'fortran_order': True, "
                              "'shape': (1,), }",
                              "1234")));
  EXPECT_EQ(error, "expected row-major order (fortran_order False)");
  std::string cut = makeFile(1, makeHeader("<f4", "(2,)"), "");
  EXPECT_FALSE(parse(cut.substr(0, cut.size() - 8)));
  EXPECT_EQ(error, "truncated in the .npy header");
}

TEST(Npy, SurvivesEveryTruncationAndCorruption) {
  Array array, parsed;
  std::string error;
  ASSERT_TRUE(makeArray(MLA_DTYPE_F32, {2, 3}, array, error));
  std::string contents = formatNpy(array);
  for (size_t i = 0; i < contents.size(); ++i) {
    EXPECT_FALSE(parseNpy(contents.substr(0, i), MLA_DTYPE_F32, parsed, error));
    for (char byte : {'\0', '\xff', '(', '9', '\''}) {
      std::string corrupt = contents;
      corrupt[i] = byte;
      (void)parseNpy(corrupt, MLA_DTYPE_F32, parsed, error);
    }
  }
}

TEST(Npy, NamesFilesThatCannotBeUsed) {
  Array array;
  std::string error;
  EXPECT_FALSE(readNpy("/no/such/file.npy", MLA_DTYPE_F32, array, error));
  EXPECT_EQ(error, "cannot read /no/such/file.npy: No such file or directory");
  EXPECT_FALSE(writeNpy("/no/such/file.npy", array, error));
}

} // namespace
