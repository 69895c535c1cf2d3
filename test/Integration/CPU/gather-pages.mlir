// mla.gather_pages by numbers: 3 pages of 2 tokens, 2 layers, rows of 3 columns, of
// which the last 2 are wanted. Element [page, 0, layer, token, 0, column] is
// 12 page + 6 layer + 3 token + column.

// Sequence 1 has its tokens in pages 2 and 0. Tokens 1 to 3 of layer 1; rows past
// the count are zero and what stood there is gone.
// RUN: mla-run %s --arg cache=iota:3x1x2x2x1x3 --arg table=[[1,7],[2,0]] \
// RUN:   --arg sequence=1 --arg layer=1 --arg position=1 --arg count=3 --arg dest=nan \
// RUN:   --expect dest=[[[34,35],[7,8],[10,11],[0,0]]] | FileCheck %s
// A page number that no row needs may be anything: sequence 0 has one page.
// RUN: mla-run %s --arg cache=iota:3x1x2x2x1x3 --arg table=[[1,1000000000],[2,0]] \
// RUN:   --arg sequence=0 --arg layer=0 --arg position=0 --arg count=2 --arg dest=nan \
// RUN:   --expect dest=[[[13,14],[16,17],[0,0],[0,0]]] | FileCheck %s
// Nothing to read: neither cache nor table need exist.
// RUN: mla-run %s --arg cache=zeros:0x1x2x2x1x3 --arg table=zeros:0x0 \
// RUN:   --arg sequence=5 --arg layer=3 --arg position=9 --arg count=0 --arg dest=nan \
// RUN:   --expect dest=[[[0,0],[0,0],[0,0],[0,0]]] | FileCheck %s
// CHECK: dest: ok: max abs error 0

func.func @gather(%cache: tensor<?x1x2x2x1x3xbf16>, %table: tensor<?x?xui32>,
    %sequence: index, %layer: index, %position: index, %count: index,
    %dest: tensor<1x4x2xf32>) -> tensor<1x4x2xf32> {
  %r = scf.forall (%i, %j) in (1, 1) shared_outs(%d = %dest) -> (tensor<1x4x2xf32>) {
    %part = tensor.extract_slice %d[%i, 0, 0] [1, 4, 2] [1, 1, 1]
        : tensor<1x4x2xf32> to tensor<4x2xf32>
    %rows = mla.gather_pages %cache[layer %layer, column 1] through %table[%sequence]
        rows(%position, %count) outs(%part)
        : tensor<?x1x2x2x1x3xbf16>, tensor<?x?xui32>, tensor<4x2xf32> -> tensor<4x2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %rows into %d[%i, 0, 0] [1, 4, 2] [1, 1, 1]
          : tensor<4x2xf32> into tensor<1x4x2xf32>
    }
  }
  return %r : tensor<1x4x2xf32>
}
