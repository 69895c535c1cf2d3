// mla.locate, item by item: sequences of 5, 0, 16, 9 and 0 rows in tiles of 8.
// The tiles of a sequence count down; items past the last are all 0.

// RUN: mla-run %s --arg offsets=[0,5,5,21,30,30] --expect \
// RUN:   out=[[0,0,5],[2,8,8],[2,0,8],[3,8,1],[3,0,8],[0,0,0],[0,0,0]] | FileCheck %s
// No sequence, and none with rows.
// RUN: mla-run %s --arg offsets=[0] --expect out=[[0,0,0],[0,0,0]] | FileCheck %s
// RUN: mla-run %s --arg offsets=[0,0,0,0] --expect out=[[0,0,0],[0,0,0]] | FileCheck %s
// One row less and one more than a tile.
// RUN: mla-run %s --arg offsets=[0,7,16] --expect \
// RUN:   out=[[0,0,7],[1,8,1],[1,0,8],[0,0,0]] | FileCheck %s
// CHECK: out: ok: max abs error 0

func.func @locate(%offsets: tensor<?xi32>, %out: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %c0 = arith.constant 0 : index
  %items = tensor.dim %out, %c0 : tensor<?x3xi32>
  %r = scf.forall (%item, %zero) in (%items, 1) shared_outs(%o = %out) -> (tensor<?x3xi32>) {
    %sequence, %first, %count = mla.locate %item in %offsets tile 8 : tensor<?xi32>
    %s = arith.index_cast %sequence : index to i32
    %f = arith.index_cast %first : index to i32
    %c = arith.index_cast %count : index to i32
    %row = tensor.from_elements %s, %f, %c : tensor<1x3xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%item, 0] [1, 3] [1, 1]
          : tensor<1x3xi32> into tensor<?x3xi32>
    }
  }
  return %r : tensor<?x3xi32>
}
