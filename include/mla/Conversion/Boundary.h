//===- Boundary.h - Memrefs at a function's boundary ------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_CONVERSION_BOUNDARY_H
#define MLA_CONVERSION_BOUNDARY_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::mla {

/// What a tensor argument becomes on every target: any offset and strides, but
/// a unit last stride (MLA-R8).
inline MemRefType getBoundaryType(TensorType type,
                                  Attribute memorySpace = Attribute()) {
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  if (!strides.empty())
    strides.back() = 1;
  auto layout =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(type.getShape(), type.getElementType(), layout,
                         memorySpace);
}

} // namespace mlir::mla

#endif // MLA_CONVERSION_BOUNDARY_H
