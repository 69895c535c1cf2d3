//===- Passes.td - Passes between levels -*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_CONVERSION_PASSES
#define MLA_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Level 0 to level 1
//===----------------------------------------------------------------------===//

def MLAToTile : Pass<"mla-to-tile"> {
  let summary = "lower mla.prefill to work items over linalg tiles";
  let description = [{
    `mla.prefill` becomes an `scf.forall` over (tile of queries, head) whose
    domain is known from shapes alone. Inside, loops over the key ranges that the
    mask gives carry an online softmax; every op works on tiles of static shape,
    whose sizes come from the op's `schedule`. Ragged ends are padded slices, and
    masked scores are selected to -inf. No target is known here.

    On memrefs the op is read through `bufferization.to_tensor` and written
    through `bufferization.materialize_in_destination`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::mla::MLADialect"];
}

//===----------------------------------------------------------------------===//
// Level 1 to a CPU
//===----------------------------------------------------------------------===//

def MLACPUStrips : Pass<"mla-cpu-strips"> {
  let summary = "put the queries of a tile side by side in vector lanes";
  let description = [{
    Inside each `scf.forall` that carries a `#mla.vector_schedule`, every tensor
    with a query dimension [queries, columns] becomes
    [strips, columns, strip], and the body of each key loop a loop over strips.
    Operands of contractions without a query dimension (keys and values) become
    packed f32 rows. What results is linalg on tensors as before, with a lane per
    query; user-written ops on scores come along.

    A tile whose ops do not allow it is left as it is: still right, only slower.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def MLACPUVectorize : Pass<"mla-cpu-vectorize", "::mlir::func::FuncOp"> {
  let summary = "cut linalg ops to register blocks and vectorise them";
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect"];
}

def MLACPUBufferize : Pass<"mla-cpu-bufferize", "::mlir::ModuleOp"> {
  let summary = "one-shot bufferization with strided function boundaries";
  let description = [{
    Tensor arguments become memrefs of any strides with a unit last one, so that
    callers may pass views (MLA-R8). A result that is one of the arguments,
    written in place, is dropped; another becomes a new last argument. Copies
    become linalg ops, never calls of a runtime library.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def MLACPULowerVectors : Pass<"mla-cpu-lower-vectors", "::mlir::func::FuncOp"> {
  let summary = "lower contractions, reductions and transfers to what a CPU has";
  let options = [
    Option<"avx2", "avx2", "bool", "false", "the CPU has AVX2: use its shuffles">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def MLACPUExpandExp2 : Pass<"mla-cpu-expand-exp2"> {
  let summary = "lower math.exp2 on f32 to a polynomial";
  let description = [{
    Relative error at most 2.3e-7, exactly 0 at -inf, NaN at NaN; results below
    2^-126 are flushed to zero or lose precision.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def MLACPUThreads : Pass<"mla-cpu-threads", "::mlir::ModuleOp"> {
  let summary = "outline the loop over work items for the runtime's thread pool";
  let description = [{
    The body of each outermost `scf.forall` over two dimensions becomes a
    function that `mlaRuntimeParallelFor` calls for each item. Buffers that the
    body allocates become parts of one scratch buffer, which each thread owns and
    keeps.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

#endif // MLA_CONVERSION_PASSES
