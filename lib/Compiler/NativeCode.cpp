//===- NativeCode.cpp - From the LLVM dialect to machine code ---*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NativeCode.h"

#include "mla/Pipelines/Pipelines.h"
#include "mla/Target/LLVM/Optimize.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;
using namespace mlir::mla;

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

static void initializeNativeTarget() {
  static const bool once = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)once;
}

/// "+avx2,-sse4a,...": what this CPU has and lacks. A virtual machine may hide
/// features that its CPU's name stands for.
static std::string getHostFeatures() {
  std::string text;
  for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
    text += text.empty() ? "" : ",";
    text += feature.second ? '+' : '-';
    text += feature.first();
  }
  return text;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
mla::createTargetMachine(const TargetInfo &info) {
  initializeNativeTarget();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError(message);
  bool isHost = info.cpu.empty() && info.features.empty();
  std::string cpu = isHost ? llvm::sys::getHostCPUName().str() : info.cpu.str();
  std::string features = isHost ? getHostFeatures() : info.features.str();
  // A GPU's host side is a few calls, which may run beside any CPU.
  if (info.isGPU) {
    cpu = "generic";
    features.clear();
  }
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return llvm::createStringError("target '" + info.name +
                                   "': no code generator for " + triple.str());
  return machine;
}

/// Whether compiled code may use a feature. A virtual machine may hide others
/// that a CPU's name stands for, such as those for operating systems.
static bool isUsedByCode(StringRef feature) {
  static constexpr StringLiteral families[] = {
      "aes",   "amx",    "avx",    "bmi", "f16c", "fma",  "gfni",   "lzcnt",
      "movbe", "pclmul", "popcnt", "sse", "ssse", "vaes", "vpclmul"};
  return llvm::any_of(
      families, [&](StringRef family) { return feature.starts_with(family); });
}

llvm::Error mla::checkRunsHere(const llvm::TargetMachine &machine,
                               StringRef targetName) {
  auto host = llvm::sys::getHostCPUFeatures();
  std::string missing;
  for (const llvm::SubtargetFeatureKV &feature :
       machine.getMCSubtargetInfo()->getEnabledProcessorFeatures()) {
    // Features that detection knows nothing of are tuning hints.
    auto known = host.find(feature.Key);
    if (known == host.end() || known->second || !isUsedByCode(feature.Key))
      continue;
    missing += missing.empty() ? "" : ", ";
    missing += feature.Key;
  }
  if (missing.empty())
    return llvm::Error::success();
  return llvm::createStringError("target '" + targetName + "' needs " +
                                 missing +
                                 ", which this CPU does not have; an object "
                                 "file can be made for it all the same");
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static llvm::Error addPackedFunction(llvm::Module &module, StringRef entry,
                                     StringRef packed) {
  llvm::Function *callee = module.getFunction(("_mlir_ciface_" + entry).str());
  if (!callee)
    return llvm::createStringError("no function '_mlir_ciface_" + entry + "'");

  llvm::IRBuilder<> builder(module.getContext());
  auto *pointer = builder.getPtrTy();
  auto *caller = llvm::Function::Create(
      llvm::FunctionType::get(builder.getVoidTy(), {pointer}, false),
      llvm::GlobalValue::ExternalLinkage, packed, module);
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "", caller));
  SmallVector<llvm::Value *> arguments;
  for (llvm::Argument &parameter : callee->args()) {
    llvm::Value *slot = builder.CreateConstGEP1_32(pointer, caller->getArg(0),
                                                   parameter.getArgNo());
    llvm::Value *value = builder.CreateLoad(pointer, slot);
    // A caller's scalar may stand anywhere.
    if (!parameter.getType()->isPointerTy())
      value =
          builder.CreateAlignedLoad(parameter.getType(), value, llvm::Align(1));
    arguments.push_back(value);
  }
  builder.CreateCall(callee, arguments);
  builder.CreateRetVoid();
  return llvm::Error::success();
}

/// Hides what nobody outside calls: what the optimiser has inlined everywhere
/// goes away, and objects of several modules can be linked together.
static void hideRest(llvm::Module &module, StringRef packed) {
  llvm::internalizeModule(module, [&](const llvm::GlobalValue &value) {
    return packed.empty() ? value.getName().starts_with("_mlir_ciface_")
                          : value.getName() == packed;
  });
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
mla::emitObject(ModuleOp source, llvm::TargetMachine &machine, StringRef entry,
                StringRef packed) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(source, context, "mla");
  if (!module)
    return llvm::createStringError("cannot translate the module to LLVM IR");
  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());
  if (!packed.empty())
    if (llvm::Error error = addPackedFunction(*module, entry, packed))
      return error;
  hideRest(*module, packed);
  optimize(*module, machine, /*packScalars=*/true);

  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager emitter;
  if (machine.addPassesToEmitFile(emitter, stream, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("the target emits no object files");
  emitter.run(*module);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(bytes), "mla", /*RequiresNullTerminator=*/false);
}
