//===- Module.cpp - A module on its way through the pipeline ----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Module.h"

#include "mla/InitAll.h"
#include "mla/Pipelines/Pipelines.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::mla;

/// A caller's module may hold any upstream op that the pipeline lowers.
/// Dialects are loaded only when a module uses them.
static DialectRegistry createRegistry() {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mla::registerAllDialects(registry);
  return registry;
}

// No threads of MLIR's own: a module has a function or two, and a process may
// hold many contexts or fork.
Module::Module(const CompileRequest &request)
    : context(createRegistry(), MLIRContext::Threading::DISABLED),
      handler(
          (sourceMgr.AddNewSourceBuffer(
               llvm::MemoryBuffer::getMemBufferCopy(request.text, request.name),
               llvm::SMLoc()),
           sourceMgr),
          &context, stream) {}

llvm::Error Module::takeError(const Twine &otherwise) {
  std::string text = diagnostics.empty() ? otherwise.str() : diagnostics;
  diagnostics.clear();
  return llvm::createStringError(StringRef(text).rtrim());
}

/// The name in the text, without %, of each argument of each function.
static void
readArgumentNames(ModuleOp module, const AsmParserState &state,
                  llvm::StringMap<SmallVector<std::string>> &names) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    const auto *block = state.getBlockDef(&function.front());
    if (!block)
      continue;
    SmallVector<std::string> &list = names[function.getSymName()];
    for (const AsmParserState::SMDefinition &argument : block->arguments) {
      const char *begin = argument.loc.Start.getPointer();
      const char *end = argument.loc.End.getPointer();
      StringRef name(begin, end - begin);
      name.consume_front("%");
      list.push_back(name.str());
    }
  }
}

llvm::Expected<std::unique_ptr<Module>>
Module::parse(const CompileRequest &request) {
  std::unique_ptr<Module> result(new Module(request));
  ParserConfig config(&result->context);
  const llvm::MemoryBuffer &buffer =
      *result->sourceMgr.getMemoryBuffer(result->sourceMgr.getMainFileID());

  Block block;
  AsmParserState state;
  LogicalResult parsed =
      isBytecode(buffer)
          ? readBytecodeFile(buffer.getMemBufferRef(), &block, config)
          : parseAsmSourceFile(result->sourceMgr, &block, config, &state);
  if (failed(parsed))
    return result->takeError(request.name + ": not a module");

  // Functions without a module around them are fine too.
  if (llvm::hasSingleElement(block) && isa<ModuleOp>(block.front())) {
    auto module = cast<ModuleOp>(block.front());
    module->remove();
    result->module = module;
  } else {
    result->module = ModuleOp::create(UnknownLoc::get(&result->context));
    auto &operations = result->module->getBody()->getOperations();
    operations.splice(operations.end(), block.getOperations());
    if (failed(result->module->verify()))
      return result->takeError(request.name + ": not a valid module");
  }
  readArgumentNames(*result->module, state, result->argumentNames);
  return result;
}

std::string Module::getArgumentName(BlockArgument argument) const {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto names = argumentNames.find(function.getSymName());
  if (names != argumentNames.end() &&
      argument.getArgNumber() < names->second.size())
    return names->second[argument.getArgNumber()];
  return ("arg" + Twine(argument.getArgNumber())).str();
}

static std::string quoteNames(ArrayRef<func::FuncOp> functions) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(functions, os, [&](func::FuncOp function) {
    os << "'" << function.getSymName() << "'";
  });
  return text;
}

llvm::Expected<func::FuncOp> Module::findEntry(StringRef name) {
  SmallVector<func::FuncOp> all, candidates;
  for (auto function : module->getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    all.push_back(function);
    if (name.empty() ? function.isPublic() : function.getSymName() == name)
      candidates.push_back(function);
  }
  if (candidates.size() == 1)
    return candidates.front();
  if (!name.empty())
    return llvm::createStringError("entry: expected a function with a body, " +
                                   (all.empty() ? "but the module has none"
                                                : "one of " + quoteNames(all)) +
                                   ", got '" + name + "'");
  if (candidates.empty())
    return llvm::createStringError(
        "the module has no public function with a body" +
        (all.empty() ? std::string()
                     : "; name one of " + quoteNames(all) + " as the entry"));
  return llvm::createStringError(
      "the module has several public functions: " + quoteNames(candidates) +
      "; name one of them as the entry");
}

llvm::Error Module::lower(StringRef target, StringRef stopAfter) {
  PassManager pm(&context, ModuleOp::getOperationName());
  LowerOptions options;
  options.target = target.str();
  options.stopAfter = stopAfter.str();
  std::string message;
  if (failed(buildLowerPipeline(
          pm, options, [&](const Twine &text) { message = text.str(); })))
    return llvm::createStringError(message);
  if (failed(pm.run(*module)))
    return takeError("lowering failed without a diagnostic");
  return llvm::Error::success();
}
