//===- CacheKey.cpp - What decides which code a module becomes --*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheKey.h"

#include "mla/Pipelines/Pipelines.h"
#include "mla/Target/PTX/Assemble.h"
#include "mla/Version.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/HashBuilder.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <cstring>
#include <link.h>

using namespace mlir;
using namespace mlir::mla;

//===----------------------------------------------------------------------===//
// Build ids
//===----------------------------------------------------------------------===//

/// The build id among the notes of a loaded segment; empty if there is none.
static StringRef findBuildId(StringRef notes, uint64_t alignment) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof(header));
    notes = notes.drop_front(sizeof(header));
    StringRef name = notes.take_front(header.n_namesz);
    notes = notes.drop_front(
        std::min<uint64_t>(notes.size(), llvm::alignTo(name.size(), 4)));
    StringRef contents = notes.take_front(header.n_descsz);
    if (header.n_type == NT_GNU_BUILD_ID &&
        name == StringRef(ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
      return contents;
    notes = notes.drop_front(std::min<uint64_t>(
        notes.size(), llvm::alignTo(contents.size(), alignment)));
  }
  return {};
}

namespace {
struct BuildIdSearch {
  uintptr_t address;
  StringRef id;
};
} // namespace

/// The build id of the library or program that `address` lies in, as it was
/// loaded (the file may be another by now); empty if it has none.
static StringRef getBuildId(const void *address) {
  BuildIdSearch search = {reinterpret_cast<uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto &search = *static_cast<BuildIdSearch *>(data);
        ArrayRef<ElfW(Phdr)> segments(info->dlpi_phdr, info->dlpi_phnum);
        bool isInside = llvm::any_of(segments, [&](const ElfW(Phdr) & segment) {
          return segment.p_type == PT_LOAD &&
                 search.address - info->dlpi_addr - segment.p_vaddr <
                     segment.p_memsz;
        });
        if (!isInside)
          return 0;
        for (const ElfW(Phdr) &segment : segments) {
          if (segment.p_type != PT_NOTE)
            continue;
          const auto *notes =
              reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr);
          search.id = findBuildId({notes, segment.p_memsz},
                                  std::max<uint64_t>(segment.p_align, 4));
          if (!search.id.empty())
            break;
        }
        return 1;
      },
      &search);
  return search.id;
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

std::optional<std::string>
mla::getCacheKey(const CompileRequest &request, StringRef entry,
                 const llvm::TargetMachine &machine) {
  llvm::HashBuilder<llvm::SHA256, llvm::endianness::little> hash;
  hash.add(request.text, entry, request.target);
  hash.add(StringRef(machine.getTargetTriple().str()), machine.getTargetCPU(),
           machine.getTargetFeatureString());

  hash.add(StringRef(MLA_VERSION_STRING), StringRef(LLVM_VERSION_STRING));
  static const char ours = 0;
  // In a self-contained library all of these are one.
  const void *places[] = {
      &ours, reinterpret_cast<const void *>(&llvm::sys::getHostCPUName),
      reinterpret_cast<const void *>(&verify)};
  for (const void *place : places) {
    StringRef id = getBuildId(place);
    if (id.empty())
      return std::nullopt;
    hash.add(id);
  }

  if (const TargetInfo *target = lookupTarget(request.target);
      target && target->isGPU) {
    auto ptxas = ptx::describePtxas();
    if (!ptxas) {
      llvm::consumeError(ptxas.takeError());
      return std::nullopt;
    }
    hash.add(StringRef(*ptxas));
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}
