// An elementwise op keeps its scalar body: one value a row beside whole tiles, and
// linalg.index as the element's row and column.

// RUN: mla-opt %s -mla-tile-to-warpgroup | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#v = affine_map<(i) -> (i)>

// The operand with the tile's own shape comes first, whatever the order was; what
// the body captures from outside stays.
// CHECK-LABEL: func.func @rows_and_index
// CHECK-SAME: %{{.*}}: index, %[[SCALE:[a-z0-9]+]]: f32
// CHECK: %[[S:.*]] = wg.splat %{{.*}} : f32 -> <64x32xf32, accumulator>
// CHECK: %[[M:.*]] = wg.splat %{{.*}} : f32 -> <64xf32, row>
// CHECK: wg.map %[[S]], %[[M]] : !wg.fragment<64x32xf32, accumulator>, !wg.fragment<64xf32, row> -> <64x32xf32, accumulator> {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[ROW:.*]]: index, %[[COLUMN:.*]]: index):
// CHECK-NEXT: %[[SEEN:.*]] = arith.cmpi sle, %[[COLUMN]], %[[ROW]] : index
// CHECK-NEXT: %[[Z:.*]] = math.fma %[[X]], %[[SCALE]], %[[Y]] : f32
// CHECK-NEXT: %[[R:.*]] = arith.select %[[SEEN]], %[[Z]], %[[X]] : f32
// CHECK-NEXT: wg.yield %[[R]] : f32
// CHECK-NOT: linalg
func.func @rows_and_index(%n: index, %scale: f32, %a: f32, %b: f32) {
  %empty = tensor.empty() : tensor<64x32xf32>
  %column = tensor.empty() : tensor<64xf32>
  %m = linalg.fill ins(%a : f32) outs(%column : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.fill ins(%b : f32) outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  scf.forall (%x, %y) in (%n, 4) {
    %r = linalg.generic {indexing_maps = [#i, #ij, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%m, %s : tensor<64xf32>, tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
    ^bb0(%e: f32, %f: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %seen = arith.cmpi sle, %j, %i : index
      %z = math.fma %f, %scale, %e : f32
      %t = arith.select %seen, %z, %f : f32
      linalg.yield %t : f32
    } -> tensor<64x32xf32>
  }
  return
}

// What the destination holds is an operand when the body reads it.
// CHECK-LABEL: func.func @in_place
// CHECK: %[[A:.*]] = wg.splat
// CHECK: %[[B:.*]] = wg.splat
// CHECK: wg.map %[[A]], %[[B]] : !wg.fragment<64xf32, row>, !wg.fragment<64xf32, row> -> <64xf32, row> {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT: %[[Z:.*]] = arith.addf %[[X]], %[[Y]] : f32
// CHECK-NEXT: wg.yield %[[Z]] : f32
func.func @in_place(%n: index, %a: f32, %b: f32) {
  %column = tensor.empty() : tensor<64xf32>
  %m = linalg.fill ins(%a : f32) outs(%column : tensor<64xf32>) -> tensor<64xf32>
  %l = linalg.fill ins(%b : f32) outs(%column : tensor<64xf32>) -> tensor<64xf32>
  scf.forall (%x, %y) in (%n, 4) {
    %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
        ins(%m : tensor<64xf32>) outs(%l : tensor<64xf32>) {
    ^bb0(%e: f32, %o: f32):
      %t = arith.addf %e, %o : f32
      linalg.yield %t : f32
    } -> tensor<64xf32>
  }
  return
}

// Named ops as generic ones.
// CHECK-LABEL: func.func @named
// CHECK: wg.map %{{.*}}, %{{.*}} : !wg.fragment<64x32xf32, accumulator>, !wg.fragment<64x32xf32, accumulator> -> <64x32xf32, accumulator> {
// CHECK: arith.mulf
func.func @named(%n: index, %a: f32) {
  %empty = tensor.empty() : tensor<64x32xf32>
  %m = linalg.fill ins(%a : f32) outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  scf.forall (%x, %y) in (%n, 4) {
    %r = linalg.mul ins(%m, %m : tensor<64x32xf32>, tensor<64x32xf32>)
        outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  }
  return
}
