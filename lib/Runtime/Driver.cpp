//===- Driver.cpp - The CUDA driver, opened at run time ---------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace mla::runtime;
using namespace mla::runtime::cuda;

/// Makes `function` the library's symbol; false if there is none.
template <typename T>
static bool find(void *library, const char *symbol, T &function) {
  function = reinterpret_cast<T>(dlsym(library, symbol));
  return function != nullptr;
}

/// Opens and initialises the driver, once a process.
static Status open(Driver &driver) {
  const char *chosen = std::getenv("MLA_CUDA_DRIVER_LIBRARY");
  if (chosen && !*chosen)
    chosen = nullptr;
  const char *path = chosen ? chosen : "libcuda.so.1";
  // Never closed: the driver does not survive that.
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status::error("no CUDA driver: %s%s",
                         chosen ? "MLA_CUDA_DRIVER_LIBRARY: " : "", dlerror());

#define MLA_CUDA_FIND(name, symbol, parameters)                                \
  if (!find(library, #symbol, driver.name))                                    \
    return Status::error(                                                      \
        "the CUDA driver '%s' has no function '%s': a driver "                 \
        "of CUDA 12.0 or later is needed",                                     \
        path, #symbol);
  MLA_CUDA_FUNCTIONS(MLA_CUDA_FIND)
#undef MLA_CUDA_FIND
#define MLA_CUDA_FIND(name, symbol, parameters)                                \
  (void)find(library, #symbol, driver.name);
  MLA_CUDA_OPTIONAL_FUNCTIONS(MLA_CUDA_FIND)
#undef MLA_CUDA_FIND

  Result result = driver.init(0);
  if (result == errorNoDevice)
    return Status::error("no CUDA device: %s",
                         driver.check(result, "cuInit").message().c_str());
  return driver.check(result, "cuInit");
}

Status Driver::get(const Driver *&driver) {
  static Driver opened;
  // Never destroyed: threads may still be here while the process exits.
  static const Status &status = *new Status(open(opened));
  driver = &opened;
  return status;
}

Status Driver::check(Result result, const char *what) const {
  if (result == success)
    return Status();
  const char *name = nullptr, *explanation = nullptr;
  if (getErrorName(result, &name) != success || !name ||
      getErrorString(result, &explanation) != success || !explanation)
    return Status::error("%s: CUDA error %d", what, result);
  return Status::error("%s: %s (%s)", what, name, explanation);
}
