//===- Kernel.h - Entry points of images, and their launch ------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_KERNEL_H
#define MLA_LIB_RUNTIME_KERNEL_H

#include "Arch.h"
#include "Image.h"

/// The C API's handle.
struct MlaRuntimeKernel {
public:
  using Status = mla::runtime::Status;

  ~MlaRuntimeKernel() { functions.deleteAll(); }
  MlaRuntimeKernel(const MlaRuntimeKernel &) = delete;
  MlaRuntimeKernel &operator=(const MlaRuntimeKernel &) = delete;

  static Status create(const void *image, size_t imageSize, const char *entry,
                       const MlaRuntimeKernelOptions *options,
                       MlaRuntimeKernel *&kernel);

  Status prepare(const MlaRuntimeStream *stream);
  Status launch(const MlaRuntimeLaunchConfig *config, void *const *arguments,
                size_t count);

private:
  /// The kernel in one context.
  struct Loaded {
    unsigned long long contextId = 0;
    mla::runtime::cuda::Function function = nullptr;
    int maxThreads = 0;
    /// Resident blocks a multiprocessor (low half) for the last block size
    /// (high half) that was asked for.
    std::atomic<uint64_t> residency{0};
    Loaded *next = nullptr;
  };

  MlaRuntimeKernel() = default;
  Status load(const mla::runtime::cuda::StreamScope &scope, Loaded *&loaded);
  Status loadFunction(const mla::runtime::cuda::StreamScope &scope,
                      Loaded &loaded);
  Status checkParameters(const mla::runtime::cuda::Driver &driver,
                         mla::runtime::cuda::Function function) const;
  Status check(const MlaRuntimeLaunchConfig &config, size_t count,
               const mla::runtime::cuda::DeviceRecord &device,
               const Loaded &loaded) const;
  Status countResidentBlocks(const mla::runtime::cuda::StreamScope &scope,
                             uint32_t blockSize, Loaded &loaded,
                             uint32_t &blocks) const;
  Status launchIn(const mla::runtime::cuda::StreamScope &scope,
                  const MlaRuntimeLaunchConfig &config, void *const *arguments,
                  size_t count);
  /// The failure, with the kernel's name before it.
  Status blame(const Status &status) const;

  mla::runtime::cuda::Image *image = nullptr;
  std::string entry;
  std::string archName;
  mla::runtime::cuda::Arch arch;
  int64_t sharedBytes = 0;
  int64_t slotBytes = 0;
  /// Without the slot's; 0: unknown.
  int64_t parameterCount = 0;
  std::mutex mutex;
  mla::runtime::GrowingList<Loaded> functions;
};

#endif // MLA_LIB_RUNTIME_KERNEL_H
