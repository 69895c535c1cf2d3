// The columns of each row, combined with what is there by the same scalar body.

// RUN: mla-opt %s -mla-tile-to-warpgroup | FileCheck %s

// CHECK-LABEL: func.func @maximum
// CHECK: %[[S:.*]] = wg.splat %{{.*}} : f32 -> <64x32xf32, accumulator>
// CHECK: %[[M:.*]] = wg.splat %{{.*}} : f32 -> <64xf32, row>
// CHECK: wg.reduce %[[S]], %[[M]] : <64x32xf32, accumulator> -> <64xf32, row> {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
// CHECK-NEXT: %[[Z:.*]] = arith.maximumf %[[X]], %[[Y]] : f32
// CHECK-NEXT: wg.yield %[[Z]] : f32
func.func @maximum(%n: index, %a: f32, %b: f32) {
  %empty = tensor.empty() : tensor<64x32xf32>
  %column = tensor.empty() : tensor<64xf32>
  %m = linalg.fill ins(%a : f32) outs(%column : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.fill ins(%b : f32) outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  scf.forall (%x, %y) in (%n, 4) {
    %r = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%s : tensor<64x32xf32>) outs(%m : tensor<64xf32>) {
    ^bb0(%e: f32, %o: f32):
      %t = arith.maximumf %e, %o : f32
      linalg.yield %t : f32
    } -> tensor<64xf32>
  }
  return
}

// CHECK-LABEL: func.func @named
// CHECK: wg.reduce %{{.*}}, %{{.*}} : <64x32xf32, accumulator> -> <64xf32, row> {
// CHECK: arith.addf
func.func @named(%n: index, %a: f32, %b: f32) {
  %empty = tensor.empty() : tensor<64x32xf32>
  %column = tensor.empty() : tensor<64xf32>
  %m = linalg.fill ins(%a : f32) outs(%column : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.fill ins(%b : f32) outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  scf.forall (%x, %y) in (%n, 4) {
    %r = linalg.reduce { arith.addf } ins(%s : tensor<64x32xf32>) outs(%m : tensor<64xf32>)
        dimensions = [1]
  }
  return
}
