//===- Npy.h - NumPy's .npy files -------------------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_TOOLS_MLA_RUN_NPY_H
#define MLA_TOOLS_MLA_RUN_NPY_H

#include "Array.h"

namespace mlarun {

/// Parses the contents of a file, format versions 1 to 3, row-major, little
/// endian. NumPy has no bf16 and no fp8: two-byte integers or raw bytes count
/// as bf16, or as f16 if that is `wanted`; raw single bytes as f8E4M3FN.
bool parseNpy(const std::string &contents, int32_t wanted, Array &array,
              std::string &error);

/// The contents of a version 1 file. bf16 becomes raw bytes, '|V2': view it as
/// an ml_dtypes.bfloat16 or as '<u2'.
std::string formatNpy(const Array &array);

/// With a message that names the file.
bool readNpy(const std::string &path, int32_t wanted, Array &array,
             std::string &error);
bool writeNpy(const std::string &path, const Array &array, std::string &error);

} // namespace mlarun

#endif // MLA_TOOLS_MLA_RUN_NPY_H
