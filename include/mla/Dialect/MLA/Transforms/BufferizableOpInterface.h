//===- BufferizableOpInterface.h - One-shot bufferization -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_MLA_TRANSFORMS_BUFFERIZABLEOPINTERFACE_H
#define MLA_DIALECT_MLA_TRANSFORMS_BUFFERIZABLEOPINTERFACE_H

namespace mlir {
class DialectRegistry;

namespace mla {
/// Lets one-shot bufferization turn the dialect's ops on tensors into the same
/// ops on memrefs.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);
} // namespace mla
} // namespace mlir

#endif // MLA_DIALECT_MLA_TRANSFORMS_BUFFERIZABLEOPINTERFACE_H
