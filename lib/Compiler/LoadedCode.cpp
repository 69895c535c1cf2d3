//===- LoadedCode.cpp - Machine code in this process ------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NativeCode.h"

#include "FloatBuiltins.h"
#include "mla-c/Runtime.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"

using namespace mlir::mla;

/// What generated code calls by name, given by address: the libraries that hold
/// it may have been loaded where a search by name does not look. Everything
/// else (memcpy, functions of libm) is searched for in the process.
static llvm::orc::SymbolMap getSymbols(llvm::orc::LLJIT &jit) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](llvm::StringRef name, void *function) {
    symbols[jit.mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  add("mlaRuntimeParallelFor",
      reinterpret_cast<void *>(&mlaRuntimeParallelFor));
  add("mlaRuntimeLoadKernelOnce",
      reinterpret_cast<void *>(&mlaRuntimeLoadKernelOnce));
  add("mlaRuntimeLaunch", reinterpret_cast<void *>(&mlaRuntimeLaunch));
  add("mlaRuntimeEncodeTensorMap",
      reinterpret_cast<void *>(&mlaRuntimeEncodeTensorMap));
  for (auto [name, function] : getFloatBuiltins())
    add(name, function);
  return symbols;
}

llvm::Expected<std::unique_ptr<LoadedCode>>
LoadedCode::load(std::unique_ptr<llvm::MemoryBuffer> object,
                 llvm::StringRef packed) {
  // No platform: generated code has no initialisers.
  auto created = llvm::orc::LLJITBuilder()
                     .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                     .create();
  if (!created)
    return created.takeError();
  auto code = std::make_unique<LoadedCode>();
  code->jit = std::move(*created);
  llvm::orc::LLJIT &jit = *code->jit;
  // What the linker has to say belongs to the caller's message, not on standard
  // error.
  std::string details;
  jit.getExecutionSession().setErrorReporter([&](llvm::Error error) {
    details += "; " + llvm::toString(std::move(error));
  });
  if (llvm::Error error = jit.getMainJITDylib().define(
          llvm::orc::absoluteSymbols(getSymbols(jit))))
    return error;
  if (llvm::Error error = jit.addObjectFile(std::move(object)))
    return error;
  auto address = jit.lookup(packed);
  jit.getExecutionSession().setErrorReporter(llvm::consumeError);
  if (!address)
    return llvm::createStringError("cannot load the compiled code: " +
                                   llvm::toString(address.takeError()) +
                                   details);
  code->function = address->toPtr<PackedFunction>();
  return code;
}
