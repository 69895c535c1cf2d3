//===- Passes.td - Passes on the wg dialect alone -*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_WARPGROUP_TRANSFORMS_PASSES
#define MLA_DIALECT_WARPGROUP_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def WGSpecialize : Pass<"mla-wg-specialize"> {
  let summary = "part the work of an item between a producer and consumers";
  let description = [{
    The body of each `scf.forall` over work items that has an
    `mla.role_schedule` becomes a `wg.roles`, run by as many blocks as fit the
    device, each for one item after the other:

    * The producer finds the next item, sends the scalars that consumers need
      through a ring, and copies tiles into rings of their own: slices of operands
      by the copy engine, pages as they come.
    * The consumers take the tiles and do all else.

    Rows past a tile's count are not zeroed where that can be seen to change
    nothing: of the left operand of products whose rows are stored up to the same
    count, and of keys whose scores are selected away. Elsewhere consumers clear
    them. A loop whose tiles are not plain slices of operands stays as it is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::mla::wg::WGDialect"];
}

def WGDeferReductions : Pass<"mla-wg-defer-reductions"> {
  let summary = "combine the threads' parts of a sum once, after the loop";
  let description = [{
    A sum over columns that a loop carries from zero, scaled by row values on the
    way (the denominator of a softmax), is kept as a `partial` in each thread. What
    follows the loop, or a chain of them, gets the threads' parts combined. The
    sums are rounded in another order.
  }];
}

def WGPipeline : Pass<"mla-wg-pipeline"> {
  let summary = "overlap a tile's second product with the next tile's first";
  let description = [{
    In consumers, over a chain of loops that carry the same values: what only an
    accumulator depends on (the last product, its operands' preparation) moves into
    the next iteration, behind that iteration's first product. So the matrix unit
    has work while the elementwise part runs. The chain's first iteration is
    peeled; items without any skip all of it. Tiles that all the chain's first
    products share are given back behind the last of them, not after the chain.
    Rows behind the chain that need no accumulator are computed beside the last
    product.

    Warpgroups issue the chain's first product in turns: they start half an
    iteration apart, and one's products run beside the other's elementwise part.
  }];
  let options = [
    Option<"turns", "turns", "bool", "true",
           "consumer warpgroups issue the first product of an item in turns">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

#endif // MLA_DIALECT_WARPGROUP_TRANSFORMS_PASSES
