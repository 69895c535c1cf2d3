//===- Image.h - Kernel images, loaded once for each context ----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_IMAGE_H
#define MLA_LIB_RUNTIME_IMAGE_H

#include "Context.h"
#include "GrowingList.h"

#include <mutex>
#include <string>

namespace mla::runtime::cuda {

/// A cubin, fat binary or PTX text. One object for each content; objects live
/// as long as the process, since captured graphs may hold what was loaded.
class Image {
public:
  /// The image with these bytes, which are copied if they are new.
  static Status get(const void *bytes, size_t size, Image *&image);

  /// The image's module in the current context, loaded if it has to be.
  Status load(const Driver &driver, const ContextRecord &context,
              Module &module);

  bool isPtx() const { return ptx; }

private:
  struct Loaded {
    unsigned long long contextId;
    Module module;
    Loaded *next = nullptr;
  };

  Image(std::string bytes, bool isPtx) : bytes(std::move(bytes)), ptx(isPtx) {}
  Status loadModule(const Driver &driver, Module &module) const;

  /// std::string's terminating NUL is what the driver wants of PTX.
  const std::string bytes;
  const bool ptx;
  std::mutex mutex;
  GrowingList<Loaded> modules;
};

} // namespace mla::runtime::cuda

#endif // MLA_LIB_RUNTIME_IMAGE_H
