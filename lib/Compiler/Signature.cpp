//===- Signature.cpp - What an entry function takes -------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Signature.h"

#include "Destinations.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::mla;

static std::optional<MlaDType> getDType(Type type) {
  if (type.isBF16())
    return MLA_DTYPE_BF16;
  if (type.isF16())
    return MLA_DTYPE_F16;
  if (type.isF32())
    return MLA_DTYPE_F32;
  if (type.isF64())
    return MLA_DTYPE_F64;
  if (isa<Float8E4M3FNType>(type))
    return MLA_DTYPE_F8E4M3FN;
  if (type.isIndex())
    return MLA_DTYPE_U64;
  if (type.isInteger(32))
    return type.isUnsignedInteger() ? MLA_DTYPE_U32 : MLA_DTYPE_I32;
  if (type.isInteger(64))
    return type.isUnsignedInteger() ? MLA_DTYPE_U64 : MLA_DTYPE_I64;
  return std::nullopt;
}

/// Fills in what the compiled code relies on. Tensors get the layout that the
/// pipeline gives them at function boundaries: any strides, the last one 1.
static LogicalResult readLayout(Type type, Argument &argument) {
  int64_t rank = argument.shape.size();
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref) {
    argument.strides.assign(rank, -1);
    if (rank > 0)
      argument.strides.back() = 1;
    return success();
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)))
    return failure();
  for (int64_t stride : strides)
    argument.strides.push_back(ShapedType::isDynamic(stride) ? -1 : stride);
  argument.offset = ShapedType::isDynamic(offset) ? 0 : offset;
  argument.contiguous = memref.getLayout().isIdentity();
  return success();
}

/// Describes one argument or result of the function's type.
static llvm::Expected<Argument> describe(Type type, std::string name,
                                         const Twine &what) {
  Argument argument;
  argument.name = std::move(name);
  auto fail = [&](const Twine &expected) {
    std::string given;
    llvm::raw_string_ostream(given) << type;
    return llvm::createStringError(what + " ('" + argument.name +
                                   "'): expected " + expected + ", got " +
                                   given);
  };
  Type element = type;
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    if (!isa<RankedTensorType, MemRefType>(type))
      return fail("a ranked tensor or memref");
    if (auto memref = dyn_cast<MemRefType>(type);
        memref && memref.getMemorySpace())
      return fail("a memref in the default memory space");
    element = shaped.getElementType();
    for (int64_t extent : shaped.getShape())
      argument.shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
    if (failed(readLayout(type, argument)))
      return fail("a memref with a strided layout");
  } else {
    argument.isScalar = true;
  }
  std::optional<MlaDType> dtype = getDType(element);
  if (!dtype)
    return fail("bf16, f16, f32, f64, f8E4M3FN, i32, ui32, i64, ui64 or index, "
                "or a ranked tensor or memref of one of these");
  argument.dtype = *dtype;
  return argument;
}

llvm::Expected<Signature> mla::getSignature(Module &module,
                                            func::FuncOp entry) {
  Signature signature;
  for (BlockArgument value : entry.getArguments()) {
    auto argument = describe(value.getType(), module.getArgumentName(value),
                             "argument " + Twine(value.getArgNumber()));
    if (!argument)
      return argument.takeError();
    argument->written = !argument->isScalar && mayBeWritten(value);
    signature.arguments.push_back(std::move(*argument));
  }
  for (auto [index, type] : llvm::enumerate(entry.getResultTypes())) {
    std::string name = ("result" + Twine(index)).str();
    auto result = describe(type, name, "result " + Twine(index));
    if (!result)
      return result.takeError();
    if (result->isScalar || isa<MemRefType>(type))
      return llvm::createStringError(
          "result " + Twine(index) + " of '" + entry.getSymName() +
          "': expected a tensor; a kernel gives nothing else back");
    if (livesInArgument(entry, index))
      continue;
    // The caller's buffer for a result is any that an argument could be.
    result->written = true;
    result->contiguous = true;
    signature.results.push_back(std::move(*result));
  }
  return signature;
}

llvm::Error mla::checkLoweredEntry(ModuleOp module, StringRef entry,
                                   const Signature &signature) {
  std::string name = ("_mlir_ciface_" + entry).str();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  size_t expected = signature.arguments.size() + signature.results.size();
  // An entry that was lowered to something else than the signature says is a
  // fault of the pipeline's; calling it would corrupt memory.
  if (!function)
    return llvm::createStringError("lowering left no function '" + name + "'");
  if (function.getNumArguments() != expected ||
      !isa<LLVM::LLVMVoidType>(function.getFunctionType().getReturnType()))
    return llvm::createStringError(
        "lowering '" + entry + "' gave " + Twine(function.getNumArguments()) +
        " parameters where " + Twine(expected) +
        " were expected; does a result depend on no destination argument?");
  return llvm::Error::success();
}
