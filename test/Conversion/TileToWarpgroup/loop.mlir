// Tiles that a loop carries stay in registers; scalars stay as they are.

// RUN: mla-opt %s -mla-tile-to-warpgroup | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @loop
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x64xbf16>, %{{.*}}: index, %[[KEYS:[a-z0-9]+]]: index
// CHECK: %[[A:.*]] = wg.splat %{{.*}} : f32 -> <64x64xf32, accumulator>
// CHECK: %[[L:.*]] = wg.splat %{{.*}} : f32 -> <64xf32, row>
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[KEYS]] step %{{.*}} iter_args(%[[ACC:.*]] = %[[A]], %[[SUM:.*]] = %[[L]], %[[COUNT:.*]] = %{{.*}}) -> (!wg.fragment<64x64xf32, accumulator>, !wg.fragment<64xf32, row>, index) {
// CHECK: memref.subview %[[X]][%[[K]], 0] [64, 64]
// CHECK: wg.mma %{{.*}} by %{{.*}} accumulate %[[ACC]]
// CHECK: %[[NEXT:.*]] = wg.wait
// CHECK: %[[MORE:.*]] = wg.reduce %[[NEXT]], %[[SUM]]
// CHECK: %[[ONE_MORE:.*]] = arith.addi %[[COUNT]], %{{.*}}
// CHECK: scf.yield %[[NEXT]], %[[MORE]], %[[ONE_MORE]] : !wg.fragment<64x64xf32, accumulator>, !wg.fragment<64xf32, row>, index
func.func @loop(%x: memref<?x64xbf16>, %n: index, %keys: index, %out: memref<?xindex>) {
  %xt = bufferization.to_tensor %x restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %empty = tensor.empty() : tensor<64x64xf32>
  %column = tensor.empty() : tensor<64xf32>
  %a = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %l = linalg.fill ins(%zero : f32) outs(%column : tensor<64xf32>) -> tensor<64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %r:3 = scf.for %k = %c0 to %keys step %c64 iter_args(%acc = %a, %sum = %l, %count = %c0)
        -> (tensor<64x64xf32>, tensor<64xf32>, index) {
      %s = tensor.extract_slice %xt[%k, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to tensor<64x64xbf16>
      %next = linalg.matmul ins(%s, %s : tensor<64x64xbf16>, tensor<64x64xbf16>)
          outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %more = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
          ins(%next : tensor<64x64xf32>) outs(%sum : tensor<64xf32>) {
      ^bb0(%e: f32, %o: f32):
        %t = arith.addf %e, %o : f32
        linalg.yield %t : f32
      } -> tensor<64xf32>
      %one_more = arith.addi %count, %c1 : index
      scf.yield %next, %more, %one_more : tensor<64x64xf32>, tensor<64xf32>, index
    }
    memref.store %r#2, %out[%i] : memref<?xindex>
  }
  return
}
