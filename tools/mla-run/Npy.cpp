//===- Npy.cpp - NumPy's .npy files -----------------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is "\x93NUMPY", two version bytes, the length of the header (2 bytes
// in version 1, 4 later), the header, the data. The header is a Python
// dictionary:
//
//     {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace mlarun;

static constexpr char magic[] = "\x93NUMPY";
static constexpr size_t magicSize = 6;

/// The text after `'key':`, without leading spaces; empty if there is none.
static std::string findValue(const std::string &header, const char *key) {
  size_t position = header.find(std::string("'") + key + "'");
  if (position == std::string::npos)
    position = header.find(std::string("\"") + key + "\"");
  if (position == std::string::npos)
    return "";
  position = header.find(':', position);
  if (position == std::string::npos)
    return "";
  position = header.find_first_not_of(' ', position + 1);
  return position == std::string::npos ? "" : header.substr(position);
}

/// "(2, 3), ..." to {2, 3}.
static bool parseShape(const std::string &text, Shape &shape) {
  const char *p = text.c_str();
  if (*p++ != '(')
    return false;
  while (true) {
    while (*p == ' ')
      ++p;
    if (*p == ')')
      return true;
    if (*p < '0' || *p > '9')
      return false;
    char *end = nullptr;
    errno = 0;
    shape.push_back(std::strtoll(p, &end, 10));
    if (errno != 0)
      return false;
    p = end;
    while (*p == ' ' || *p == 'L')
      ++p;
    if (*p == ',')
      ++p;
    else if (*p != ')')
      return false;
  }
}

/// "'<f4', ..." to an element type, -1 if there is none for it.
static int32_t parseDescr(const std::string &text, int32_t wanted) {
  if (text.size() < 5 || (text[0] != '\'' && text[0] != '"'))
    return -1;
  char order = text[1];
  std::string type = text.substr(2, text.find(text[0], 1) - 2);
  if (order == '>' && type != "V1" && type != "u1")
    return -1;
  if (type == "f2")
    return MLA_DTYPE_F16;
  if (type == "f4")
    return MLA_DTYPE_F32;
  if (type == "f8")
    return MLA_DTYPE_F64;
  if (type == "i4")
    return MLA_DTYPE_I32;
  if (type == "u4")
    return MLA_DTYPE_U32;
  if (type == "i8")
    return MLA_DTYPE_I64;
  if (type == "u8")
    return MLA_DTYPE_U64;
  if (type == "V2" || type == "u2")
    return wanted == MLA_DTYPE_F16 ? MLA_DTYPE_F16 : MLA_DTYPE_BF16;
  if (type == "V1" || type == "u1")
    return MLA_DTYPE_F8E4M3FN;
  return -1;
}

bool mlarun::parseNpy(const std::string &contents, int32_t wanted, Array &array,
                      std::string &error) {
  const auto *bytes = reinterpret_cast<const unsigned char *>(contents.data());
  if (contents.size() < 10 || std::memcmp(bytes, magic, magicSize) != 0) {
    error = "not a .npy file";
    return false;
  }
  int version = bytes[6];
  if (version < 1 || version > 3) {
    error = "expected .npy format version 1, 2 or 3, got " +
            std::to_string(version);
    return false;
  }
  size_t start = version == 1 ? 10 : 12;
  size_t length = bytes[8] | size_t(bytes[9]) << 8;
  if (version > 1 && contents.size() >= start)
    length |= size_t(bytes[10]) << 16 | size_t(bytes[11]) << 24;
  if (contents.size() < start || contents.size() - start < length) {
    error = "truncated in the .npy header";
    return false;
  }
  std::string header = contents.substr(start, length);

  std::string descr = findValue(header, "descr");
  int32_t dtype = parseDescr(descr, wanted);
  if (dtype < 0) {
    error = "expected elements of a little-endian float or of a 32- or 64-bit "
            "integer type, got " +
            descr.substr(0, descr.find(','));
    return false;
  }
  if (findValue(header, "fortran_order").compare(0, 5, "False") != 0) {
    error = "expected row-major order (fortran_order False)";
    return false;
  }
  Shape shape;
  if (!parseShape(findValue(header, "shape"), shape)) {
    error = "cannot read the shape in the .npy header";
    return false;
  }
  int64_t count = getNumElements(shape);
  size_t available = contents.size() - start - length;
  if (count < 0 || static_cast<uint64_t>(count) >
                       available / static_cast<size_t>(getByteSize(dtype))) {
    error = "truncated: shape " + formatShape(shape) + " of " +
            getTypeName(dtype) + " needs more than " +
            std::to_string(available) + " bytes";
    return false;
  }
  array.dtype = dtype;
  array.shape = shape;
  const char *data = contents.data() + start + length;
  array.bytes.assign(data, data + count * getByteSize(dtype));
  return true;
}

std::string mlarun::formatNpy(const Array &array) {
  static const char *const descrs[] = {"|V2", "<f2", "<f4", "<f8", "<i4",
                                       "<u4", "<i8", "<u8", "|V1"};
  std::string shape;
  for (int64_t extent : array.shape)
    shape += std::to_string(extent) + ", ";
  if (array.shape.size() > 1)
    shape.resize(shape.size() - 2);
  else if (array.shape.size() == 1)
    shape.resize(shape.size() - 1); // "(3,)"
  std::string header = std::string("{'descr': '") + descrs[array.dtype] +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The data starts at a multiple of 64 bytes.
  size_t end = (10 + header.size() + 1 + 63) / 64 * 64;
  header.resize(end - 10 - 1, ' ');
  header += '\n';
  std::string contents(magic, magicSize);
  contents += '\1';
  contents += '\0';
  contents += static_cast<char>(header.size() & 255);
  contents += static_cast<char>(header.size() >> 8);
  contents += header;
  contents.append(array.bytes.data(), array.bytes.size());
  return contents;
}

bool mlarun::readNpy(const std::string &path, int32_t wanted, Array &array,
                     std::string &error) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream contents;
  if (!file || !(contents << file.rdbuf())) {
    error = "cannot read " + path + ": " + std::strerror(errno);
    return false;
  }
  if (parseNpy(contents.str(), wanted, array, error))
    return true;
  error = path + ": " + error;
  return false;
}

bool mlarun::writeNpy(const std::string &path, const Array &array,
                      std::string &error) {
  std::ofstream file(path, std::ios::binary);
  std::string contents = formatNpy(array);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  file.close();
  if (file)
    return true;
  error = "cannot write " + path + ": " + std::strerror(errno);
  return false;
}
