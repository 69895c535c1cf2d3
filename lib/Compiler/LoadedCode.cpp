//===- LoadedCode.cpp - Machine code in this process ------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NativeCode.h"

#include "mla-c/Runtime.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"

using namespace mlir::mla;

/// The runtime's functions that generated code calls. Given by address: the
/// library may have been loaded where a search by name does not look.
static llvm::orc::SymbolMap getRuntimeSymbols(llvm::orc::LLJIT &jit) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](llvm::StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  add("mlaRuntimeParallelFor", &mlaRuntimeParallelFor);
  return symbols;
}

llvm::Expected<std::unique_ptr<LoadedCode>>
LoadedCode::load(std::unique_ptr<llvm::MemoryBuffer> object,
                 llvm::StringRef packed) {
  // No platform: generated code has no initialisers.
  auto jit = llvm::orc::LLJITBuilder()
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .create();
  if (!jit)
    return jit.takeError();
  auto code = std::make_unique<LoadedCode>();
  code->jit = std::move(*jit);
  if (llvm::Error error = code->jit->getMainJITDylib().define(
          llvm::orc::absoluteSymbols(getRuntimeSymbols(*code->jit))))
    return error;
  if (llvm::Error error = code->jit->addObjectFile(std::move(object)))
    return error;
  auto address = code->jit->lookup(packed);
  if (!address)
    return address.takeError();
  code->function = address->toPtr<PackedFunction>();
  return code;
}
