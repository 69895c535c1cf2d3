//===- MLABase.td - The mla dialect and its types ----------*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_MLA_IR_MLABASE
#define MLA_DIALECT_MLA_IR_MLABASE

include "mlir/IR/OpBase.td"

def MLA_Dialect : Dialect {
  let name = "mla";
  let cppNamespace = "::mlir::mla";
  let summary = "multi-head latent attention over ragged batches and paged caches";
  let description = [{
    One op, `mla.prefill`, computes the attention step of multi-head latent
    attention (MLA, as in DeepSeek-V2 and V3) for a ragged batch: queries and
    the up-projected keys and values are ragged tensors, and the rope part of
    every key is read from the paged latent cache. Its mask is an attribute that
    implements an interface, so a new mask is a new attribute and no new kernel.

    `mla-to-tile` lowers it to work items: loops and linalg ops on tiles of
    static shape, plus the two ops of this dialect that upstream has no word for,
    `mla.locate` and `mla.gather_pages`.

    A key loop of level 1 may carry the unit attribute `mla.skip_masked`: a query
    all of whose scores in an iteration are -inf leaves that iteration with what
    it carried in, so a backend may leave it out. `mla-to-tile` says so of the
    loops it writes; whoever edits a loop so that it no longer holds removes it.

    Symbols used on this page: `B` sequences, `H` heads, `T` query tokens in the
    batch, `N` rows of the ragged key and value buffers, `Dn` and `Dr` the nope
    and rope widths of a key, `Dq = Dn + Dr`, `Dv` the width of a value, `Dc` the
    width of a cache row, `P` the page size, `L` the layers of the cache.
  }];
  let extraClassDeclaration = [{
    /// Its name on the loops over keys of level 1.
    static constexpr ::llvm::StringLiteral kSkipMasked = "mla.skip_masked";
    /// On a slice or gather of an operand: what messages call it.
    static constexpr ::llvm::StringLiteral kOperand = "mla.operand";
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect"
  ];
  let useDefaultAttributePrinterParser = 1;
}

class MLA_Op<string mnemonic, list<Trait> traits = []>
    : Op<MLA_Dialect, mnemonic, traits>;

// Shaped means tensor or memref: an op works on either, never on a mixture.
def MLA_Shaped : AnyTypeOf<[AnyRankedTensor, AnyMemRef],
                           "ranked tensor or memref">;
def MLA_IndexElement : AnyTypeOf<[I32, UI32]>;
def MLA_IndexVector : AnyTypeOf<[TensorRankOf<[MLA_IndexElement], [1]>,
                                 MemRefRankOf<[MLA_IndexElement], [1]>],
                                "1-D tensor or memref of i32 or ui32">;
def MLA_IndexMatrix : AnyTypeOf<[TensorRankOf<[MLA_IndexElement], [2]>,
                                 MemRefRankOf<[MLA_IndexElement], [2]>],
                                "2-D tensor or memref of i32 or ui32">;
def MLA_IndexScalar : AnyTypeOf<[I32, UI32, I64, Index],
                                "i32, ui32, i64 or index">;
def MLA_MaskParameter : AnyTypeOf<[MLA_IndexScalar, MLA_IndexVector],
                                  "integer scalar, or one integer per sequence">;

#endif // MLA_DIALECT_MLA_IR_MLABASE
