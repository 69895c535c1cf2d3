//===- Warpgroup.h - The wg dialect -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_WARPGROUP_IR_WARPGROUP_H
#define MLA_DIALECT_WARPGROUP_IR_WARPGROUP_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "mla/Dialect/Warpgroup/IR/WarpgroupDialect.h.inc"
#include "mla/Dialect/Warpgroup/IR/WarpgroupEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "mla/Dialect/Warpgroup/IR/WarpgroupTypes.h.inc"

#define GET_OP_CLASSES
#include "mla/Dialect/Warpgroup/IR/WarpgroupOps.h.inc"

namespace mlir::mla::wg {
/// On a loop over blocks: as many run as fit the device, whatever the bound.
inline constexpr llvm::StringLiteral kResidentName = "wg.resident";
/// On roles: iterations of their loops overlap already.
inline constexpr llvm::StringLiteral kPipelinedName = "wg.pipelined";
} // namespace mlir::mla::wg

#endif // MLA_DIALECT_WARPGROUP_IR_WARPGROUP_H
