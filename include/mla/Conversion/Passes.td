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
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def MLACPUExpandExp2 : Pass<"mla-cpu-expand-exp2"> {
  let summary = "lower math.exp2 on f32 to a polynomial";
  let description = [{
    Relative error at most 2.3e-7, exactly 0 at -inf, NaN at NaN; results below
    2^-126 are flushed to zero or lose precision, and those from 2^127.5 on
    overflow: softmax takes exp2 of nothing above 0.
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

//===----------------------------------------------------------------------===//
// Level 1 to level 2
//===----------------------------------------------------------------------===//

def MLAMemrefBoundary : Pass<"mla-memref-boundary", "::mlir::ModuleOp"> {
  let summary = "tensor arguments become memrefs, results go into them";
  let description = [{
    For targets whose kernels read memory themselves: each tensor argument of a
    function becomes a memref of any strides with a unit last one, seen through
    `bufferization.to_tensor`; a result that is written into an argument goes there
    with `bufferization.materialize_in_destination` and is dropped.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def MLATileToWarpgroup : Pass<"mla-tile-to-warpgroup"> {
  let summary = "give every tile value of a work item a home on a GPU";
  let description = [{
    Inside each `scf.forall` over work items, linalg ops on tiles become ops of the
    wg dialect, one rule for each op and none for `mla.prefill`: slices, padded
    slices and gathers are loaded into shared memory, contractions become matrix
    products in registers, elementwise ops and reductions keep their scalar
    bodies. Tensors from outside have to be views of memrefs
    (`bufferization.to_tensor`). What has no rule is refused by name.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::mla::wg::WGDialect"];
}

//===----------------------------------------------------------------------===//
// Level 2 to level 3
//===----------------------------------------------------------------------===//

def MLAWarpgroupOutline : Pass<"mla-warpgroup-outline", "::mlir::ModuleOp"> {
  let summary = "make a kernel of each loop over work items";
  let description = [{
    An `scf.forall` over wg ops becomes an `llvm.func` in a `gpu.module`, one block
    for each item, and a `gpu.launch_func`. Captured values travel as one struct,
    the kernel's first parameter; tensor maps are parameters of their own.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect"];
}

def MLALowerRings : Pass<"mla-wg-lower-rings", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower rings, copies and the order of items to barriers and copies";
  let description = [{
    Of kernels with roles. Each ring gets a place in shared memory and two mbarriers a
    slot; the producer's warp copies boxes by the copy engine and gathers pages that
    do not fit one; the order of sequences is built by all threads before the
    roles part. What is left of the wg dialect computes.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def MLAMathToNVVM : Pass<"mla-math-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "functions of f32 in the GPU's own approximation";
  let description = [{
    `math.exp2` becomes ex2.approx.ftz (error 2 ulp, 0 at -inf), `math.exp` the same
    of a scaled argument, `math.log` lg2.approx times ln 2, `math.tanh`
    tanh.approx (relative error 2^-11), a quotient 1 / x rcp.approx.ftz (error 1
    ulp, denormal numbers count as 0). Ceiling and floor divisions of integers
    are expanded too.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect"];
}

def MLAWarpgroupToNVVM : Pass<"mla-warpgroup-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower wg ops to what one thread does";
  let description = [{
    A fragment becomes the vector of the elements that a thread holds, a tile its
    address in shared memory, whose place is chosen here. Products are one
    inline assembly each.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

//===----------------------------------------------------------------------===//
// Level 3 to code that runs
//===----------------------------------------------------------------------===//

def MLANVVMToBinary : Pass<"mla-nvvm-to-binary", "::mlir::ModuleOp"> {
  let summary = "compile every gpu.module to a gpu.binary";
  let description = [{
    Through LLVM's NVPTX back end to PTX and, where ptxas is found, on to a cubin;
    without it the binary holds the PTX, which the driver compiles. What ptxas
    reports that makes a kernel slower than it could be, such as spills, becomes
    a remark.
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_90a\"", "architecture">,
    Option<"features", "features", "std::string", "\"+ptx86\"", "PTX version">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

def MLALowerLaunch : Pass<"mla-lower-launch", "::mlir::ModuleOp"> {
  let summary = "lower gpu.launch_func to calls of the runtime";
  let description = [{
    A `gpu.binary` becomes constant bytes, loaded once by
    `mlaRuntimeLoadKernelOnce`; each launch calls `mlaRuntimeLaunch` on the
    calling thread's stream. Errors are kept by the runtime.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect"];
}

#endif // MLA_CONVERSION_PASSES
