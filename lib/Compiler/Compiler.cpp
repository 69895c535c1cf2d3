//===- Compiler.cpp - MLIR text in, callable kernel out ---------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Compiler/Compiler.h"

#include "CacheKey.h"
#include "CallChecks.h"
#include "CallFrame.h"
#include "DiskCache.h"
#include "NativeCode.h"
#include "Signature.h"

#include "mla-c/Runtime.h"
#include "mla/Pipelines/Pipelines.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mla;

/// The symbol under which a kernel's entry is found in its own code.
static constexpr StringLiteral packedName = "mla_packed_entry";

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(StringRef name) {
  const TargetInfo *target = lookupTarget(name);
  if (target)
    return createTargetMachine(*target);
  std::string known;
  llvm::raw_string_ostream os(known);
  llvm::interleaveComma(getTargets(), os, [&](const TargetInfo &info) {
    os << "'" << info.name << "'";
  });
  return llvm::createStringError("target: expected one of " + known +
                                 ", got '" + name + "'");
}

/// Asks for the `_mlir_ciface_` wrapper of a function.
static void exportFunction(func::FuncOp function) {
  function.setPublic();
  function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                    UnitAttr::get(function.getContext()));
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

struct Kernel::Impl {
  std::string entry;
  /// The entry function's arguments, then its results.
  SmallVector<Argument> arguments;
  CallChecks checks;
  std::unique_ptr<LoadedCode> code;
};

Kernel::Kernel(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Kernel::~Kernel() = default;

ArrayRef<Argument> Kernel::getArguments() const { return impl->arguments; }

/// Lowers the module of `entry` and emits an object file with its packed
/// function.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
build(Module &module, func::FuncOp entry, const Signature &signature,
      StringRef target, llvm::TargetMachine &machine) {
  // The function is another one after lowering.
  std::string name = entry.getSymName().str();
  exportFunction(entry);
  if (llvm::Error error = module.lower(target))
    return error;
  if (llvm::Error error = checkLoweredEntry(module.get(), name, signature))
    return error;
  return emitObject(module.get(), machine, name, packedName);
}

llvm::Expected<std::unique_ptr<Kernel>>
Kernel::compile(const CompileRequest &request) {
  auto machine = ::createTargetMachine(request.target);
  if (!machine)
    return machine.takeError();
  if (llvm::Error error = checkRunsHere(**machine, request.target))
    return error;
  auto module = Module::parse(request);
  if (!module)
    return module.takeError();
  auto entry = (*module)->findEntry(request.entry);
  if (!entry)
    return entry.takeError();
  auto signature = getSignature(**module, *entry);
  if (!signature)
    return signature.takeError();

  auto impl = std::make_unique<Impl>();
  impl->entry = entry->getSymName().str();
  impl->checks = collectCallChecks(*entry);

  DiskCache cache = DiskCache::fromEnvironment();
  std::optional<std::string> key;
  if (cache.isOn())
    key = getCacheKey(request, impl->entry, **machine);
  std::unique_ptr<llvm::MemoryBuffer> object = key ? cache.find(*key) : nullptr;
  if (!object) {
    auto built = build(**module, *entry, *signature, request.target, **machine);
    if (!built)
      return built.takeError();
    object = std::move(*built);
    if (key)
      cache.store(*key, object->getBuffer());
  }
  auto code = LoadedCode::load(std::move(object), packedName);
  if (!code)
    return code.takeError();
  impl->code = std::move(*code);
  impl->arguments = std::move(signature->arguments);
  llvm::append_range(impl->arguments, signature->results);
  return std::unique_ptr<Kernel>(new Kernel(std::move(impl)));
}

llvm::Error Kernel::run(ArrayRef<MlaTensor> tensors, int32_t numThreads) const {
  if (numThreads < 0)
    return llvm::createStringError("numThreads: expected 0 or more, got " +
                                   Twine(numThreads));
  CallFrame frame;
  if (llvm::Error error = frame.bind(impl->arguments, tensors))
    return error;
  if (llvm::Error error = impl->checks.check(impl->arguments, tensors))
    return error;

  int32_t previous = mlaRuntimeGetNumThreads();
  if (numThreads > 0)
    mlaRuntimeSetNumThreads(numThreads);
  llvm::scope_exit restore([&] { mlaRuntimeSetNumThreads(previous); });
  // What an earlier loop on this thread had to say is not about this call.
  (void)mlaRuntimeTakeError();
  impl->code->call(frame.getPointers());
  if (const char *message = mlaRuntimeTakeError())
    return llvm::createStringError(Twine("'") + impl->entry + "': " + message);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Text and object files
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> mla::lowerText(const CompileRequest &request,
                                           StringRef stopAfter) {
  auto module = Module::parse(request);
  if (!module)
    return module.takeError();
  if (llvm::Error error = (*module)->lower(request.target, stopAfter))
    return error;
  std::string text;
  llvm::raw_string_ostream os(text);
  (*module)->get().print(os);
  os << '\n';
  return text;
}

llvm::Error mla::compileToObject(const CompileRequest &request,
                                 StringRef path) {
  auto machine = ::createTargetMachine(request.target);
  if (!machine)
    return machine.takeError();
  auto module = Module::parse(request);
  if (!module)
    return module.takeError();
  if (request.entry.empty()) {
    for (auto function : (*module)->get().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        exportFunction(function);
  } else {
    auto entry = (*module)->findEntry(request.entry);
    if (!entry)
      return entry.takeError();
    exportFunction(*entry);
  }
  if (llvm::Error error = (*module)->lower(request.target))
    return error;
  auto object = emitObject((*module)->get(), **machine);
  if (!object)
    return object.takeError();

  // Not llvm::ToolOutputFile, which takes over the process's signal handlers.
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (!code) {
    llvm::FileRemover remover(path); // of a file that is half written
    os << (*object)->getBuffer();
    os.close();
    code = os.error();
    os.clear_error();
    if (!code)
      remover.releaseFile();
  }
  if (code)
    return llvm::createStringError("cannot write " + path + ": " +
                                   code.message());
  return llvm::Error::success();
}
