//===- Binary.cpp - Kernels to PTX and machine code -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/KernelAttrs.h"
#include "mla/Conversion/Passes.h"
#include "mla/Target/LLVM/Optimize.h"
#include "mla/Target/PTX/Assemble.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLANVVMTOBINARY
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(StringRef chip, StringRef features) {
  static const bool once = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)once;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError(message);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, chip, features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

static llvm::Expected<std::string> emitPTX(gpu::GPUModuleOp kernels,
                                           llvm::TargetMachine &machine) {
  // A copy without the attributes that only this compiler reads.
  OwningOpRef<gpu::GPUModuleOp> copy(kernels.clone());
  copy->walk([](LLVM::LLVMFuncOp function) {
    function->removeAttr(kSharedBytes);
    function->removeAttr(kSlotBytes);
    function->removeAttr(gpu::GPUDialect::getKernelFuncAttrName());
  });
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(*copy, context, "kernels");
  if (!module)
    return llvm::createStringError("cannot translate the kernels to LLVM IR");
  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());
  optimize(*module, machine, /*packScalars=*/false);
  SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emitter;
  if (machine.addPassesToEmitFile(emitter, stream, nullptr,
                                  llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("the target emits no PTX");
  emitter.run(*module);
  return std::string(text.begin(), text.end());
}

namespace {
struct NVVMToBinary : mla::impl::MLANVVMToBinaryBase<NVVMToBinary> {
  using MLANVVMToBinaryBase::MLANVVMToBinaryBase;

  void runOnOperation() override {
    SmallVector<gpu::GPUModuleOp> modules(
        getOperation().getOps<gpu::GPUModuleOp>());
    if (modules.empty())
      return;
    auto machine = createMachine(chip, features);
    if (!machine) {
      getOperation().emitError() << llvm::toString(machine.takeError());
      return signalPassFailure();
    }
    for (gpu::GPUModuleOp kernels : modules)
      if (failed(compile(kernels, **machine)))
        return signalPassFailure();
  }

  LogicalResult compile(gpu::GPUModuleOp kernels,
                        llvm::TargetMachine &machine) {
    auto ptx = emitPTX(kernels, machine);
    if (!ptx)
      return kernels.emitError() << llvm::toString(ptx.takeError());
    std::string code = *ptx;
    auto format = gpu::CompilationTarget::Assembly;
    if (auto tool = ptx::findPtxas(); !tool) {
      llvm::consumeError(tool.takeError());
    } else {
      ptx::AssembleOptions options;
      options.chip = chip;
      options.name = kernels.getName().str();
      auto assembled = ptx::assemble(*ptx, options);
      if (!assembled)
        return kernels.emitError() << llvm::toString(assembled.takeError());
      for (const std::string &problem : assembled->report.getProblems())
        emitRemark(kernels.getLoc()) << problem;
      code = std::move(assembled->cubin);
      format = gpu::CompilationTarget::Binary;
    }
    OpBuilder builder(kernels);
    // What a launch has to know travels with the code.
    SmallVector<NamedAttribute> facts;
    kernels.walk([&](LLVM::LLVMFuncOp function) {
      SmallVector<NamedAttribute> ofKernel;
      for (StringRef name : {kSharedBytes, kSlotBytes})
        if (Attribute bytes = function->getAttr(name))
          ofKernel.push_back(builder.getNamedAttr(name, bytes));
      facts.push_back(builder.getNamedAttr(
          function.getName(), builder.getDictionaryAttr(ofKernel)));
    });
    auto target = NVVM::NVVMTargetAttr::get(
        &getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda", chip, features);
    auto object = gpu::ObjectAttr::get(
        &getContext(), target, format, builder.getStringAttr(code),
        builder.getDictionaryAttr(facts), /*kernels=*/nullptr);
    gpu::BinaryOp::create(builder, kernels.getLoc(), kernels.getName(),
                          /*offloadingHandler=*/nullptr,
                          builder.getArrayAttr({object}));
    kernels.erase();
    return success();
  }
};
} // namespace
