// Another compiler's use of the C++ interface: our dialect in its registry, our
// stages in its pass manager.
#include "mla/InitAll.h"
#include "mla/Pipelines/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: pass-pipeline prefill.mlir\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::mla::registerAllDialects(registry);
  mlir::MLIRContext context(registry);

  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  mlir::PassManager pm(&context);
  mlir::mla::LowerOptions options;
  options.target = "cpu";
  options.stopAfter = "tile";
  auto emitError = [](const llvm::Twine &message) {
    llvm::errs() << message << "\n";
  };
  if (failed(mlir::mla::buildLowerPipeline(pm, options, emitError)) ||
      failed(pm.run(*module)))
    return 1;

  bool lowered = true;
  module->walk([&](mlir::Operation *op) {
    lowered &= op->getName().getStringRef() != "mla.prefill";
  });
  if (!lowered) {
    llvm::errs() << "mla.prefill is still there after stage tile\n";
    return 1;
  }
  llvm::outs() << "lowered to level 1\n";
  return 0;
}
