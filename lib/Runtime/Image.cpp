//===- Image.cpp - Kernel images, loaded once for each context --*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Image.h"

#include <cstring>
#include <string_view>
#include <unordered_map>

using namespace mla::runtime;
using namespace mla::runtime::cuda;

/// The smallest number of bytes that can tell what an image is.
static constexpr size_t minImageBytes = 4;

static bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

Status Image::get(const void *data, size_t size, Image *&image) {
  if (!data || size < minImageBytes)
    return Status::error("image: expected a cubin or PTX text, got %zu bytes",
                         data ? size : 0);
  std::string_view bytes(static_cast<const char *>(data), size);
  bool isCubin = startsWith(bytes, "\177ELF");
  bool isFatBinary = startsWith(bytes, "\x50\xed\x55\xba");
  bool isPtx = !isCubin && !isFatBinary;
  if (isPtx) {
    while (!bytes.empty() && bytes.back() == 0)
      bytes.remove_suffix(1);
    // The driver reads PTX up to its first NUL and would call the rest of it
    // missing.
    if (bytes.find('\0') != bytes.npos || bytes.find(".target") == bytes.npos)
      return Status::error("image: expected a cubin or PTX text, got %zu bytes "
                           "that are neither",
                           size);
  }

  // Never destroyed: threads may still be here while the process exits.
  static std::mutex &mutex = *new std::mutex;
  static auto &images = *new std::unordered_map<std::string_view, Image *>;
  std::lock_guard<std::mutex> lock(mutex);
  if (auto found = images.find(bytes); found != images.end()) {
    image = found->second;
    return Status();
  }
  image = new Image(std::string(bytes), isPtx);
  images.emplace(image->bytes, image);
  return Status();
}

Status Image::load(const Driver &driver, const ContextRecord &context,
                   Module &module) {
  auto matches = [&](const Loaded &loaded) {
    return loaded.contextId == context.id;
  };
  if (Loaded *loaded = modules.find(matches)) {
    module = loaded->module;
    return Status();
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (Loaded *loaded = modules.find(matches)) {
    module = loaded->module;
    return Status();
  }
  if (Status status = loadModule(driver, module); status.failed())
    return status;
  modules.add(new Loaded{context.id, module});
  return Status();
}

Status Image::loadModule(const Driver &driver, Module &module) const {
  char log[4096] = {0};
  int options[] = {jit_option::errorLog, jit_option::errorLogBytes};
  // Numbers are passed in the pointers.
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  RelaxedCapture relaxed(driver);
  Result result =
      driver.moduleLoadData(&module, bytes.c_str(), 2, options, values);
  if (result == success)
    return Status();
  Status status = driver.check(result, symbolOf_moduleLoadData);
  log[sizeof(log) - 1] = 0;
  size_t length = std::strlen(log);
  while (length > 0 && (log[length - 1] == '\n' || log[length - 1] == ' '))
    log[--length] = 0;
  if (length > 0)
    return Status::error("%s: %s", status.message().c_str(), log);
  int version = 0;
  if (result == errorUnsupportedPtxVersion &&
      driver.driverGetVersion(&version) == success)
    return Status::error("%s: the driver, of CUDA %d.%d, is older than the PTX",
                         status.message().c_str(), version / 1000,
                         version % 1000 / 10);
  return status;
}
