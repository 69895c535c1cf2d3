// A slice of an operand is a view of its memory; as an operand of a product it is
// loaded, once. A tile that is loaded already gives whole columns without a copy.

// RUN: mla-opt %s -mla-tile-to-warpgroup -canonicalize | FileCheck %s

!rows = memref<?x4x192xbf16, strided<[?, ?, 1], offset: ?>>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @view
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x4x192xbf16, strided<[?, ?, 1], offset: ?>>, %[[N:[a-z0-9]+]]: index
// CHECK-NOT: tensor
// CHECK: scf.forall (%[[I:.*]], %[[H:.*]]) in (%[[N]], 4) {
// CHECK: %[[VIEW:.*]] = memref.subview %[[X]][%[[I]], %[[H]], 128] [128, 1, 64] [1, 1, 1] : {{.*}} to memref<128x64xbf16, strided<[?, 1], offset: ?>>
// CHECK: %[[TILE:.*]] = wg.load %[[VIEW]] : memref<128x64xbf16, strided<[?, 1], offset: ?>> -> <128x64xbf16>
// CHECK-NOT: wg.load
// CHECK: wg.mma %[[TILE]] by %[[TILE]] transposed : !wg.tile<128x64xbf16> by !wg.tile<128x64xbf16>
func.func @view(%x: !rows, %n: index) {
  %t = bufferization.to_tensor %x restrict : !rows to tensor<?x4x192xbf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, %h, 128] [128, 1, 64] [1, 1, 1]
        : tensor<?x4x192xbf16> to tensor<128x64xbf16>
    %r = linalg.matmul indexing_maps = [#a, #b, #c]
        ins(%s, %s : tensor<128x64xbf16>, tensor<128x64xbf16>)
        outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  }
  return
}

// A slice of a slice is a view of a view.
// CHECK-LABEL: func.func @view_of_view
// CHECK: %[[ROW:.*]] = memref.subview %{{.*}}[%{{.*}}, %{{.*}}, 0] [128, 1, 192]
// CHECK: memref.subview %[[ROW]][0, 32] [128, 64] [1, 1] : memref<128x192xbf16, {{.*}}> to memref<128x64xbf16, strided<[?, 1], offset: ?>>
func.func @view_of_view(%x: !rows, %n: index) {
  %t = bufferization.to_tensor %x restrict : !rows to tensor<?x4x192xbf16>
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, %h, 0] [128, 1, 192] [1, 1, 1]
        : tensor<?x4x192xbf16> to tensor<128x192xbf16>
    %u = tensor.extract_slice %s[0, 32] [128, 64] [1, 1]
        : tensor<128x192xbf16> to tensor<128x64xbf16>
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<128x128xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
    %r = linalg.matmul indexing_maps = [#a, #b, #c]
        ins(%u, %u : tensor<128x64xbf16>, tensor<128x64xbf16>)
        outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  }
  return
}

// CHECK-LABEL: func.func @columns
// CHECK: %[[TILE:.*]] = wg.load %{{.*}} count %{{.*}} -> <128x192xbf16>
// CHECK-DAG: %[[A:.*]] = wg.columns %[[TILE]][0] : <128x192xbf16> -> <128x128xbf16>
// CHECK-DAG: %[[B:.*]] = wg.columns %[[TILE]][64] : <128x192xbf16> -> <128x128xbf16>
// CHECK-NOT: wg.load
// CHECK: wg.mma %[[A]] by %[[B]] transposed
func.func @columns(%x: !rows, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : !rows to tensor<?x4x192xbf16>
  %zero = arith.constant 0.0 : f32
  %nothing = arith.constant 0.0 : bf16
  %empty = tensor.empty() : tensor<128x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, %h, 0] [%count, 1, 192] [1, 1, 1]
        : tensor<?x4x192xbf16> to tensor<?x192xbf16>
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<?x192xbf16> to tensor<128x192xbf16>
    %u = tensor.extract_slice %p[0, 0] [128, 128] [1, 1]
        : tensor<128x192xbf16> to tensor<128x128xbf16>
    %v = tensor.extract_slice %p[0, 64] [128, 128] [1, 1]
        : tensor<128x192xbf16> to tensor<128x128xbf16>
    %r = linalg.matmul indexing_maps = [#a, #b, #c]
        ins(%u, %v : tensor<128x128xbf16>, tensor<128x128xbf16>)
        outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  }
  return
}
