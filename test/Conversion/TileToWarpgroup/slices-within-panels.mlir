// A tile that is read in slices of columns of which one begins within a panel of 64 is
// loaded as one tile for each slice, in which it begins a panel: of the operand itself,
// under the operand's name.

// RUN: mla-opt %s -mla-tile-to-warpgroup -canonicalize | FileCheck %s

!rows = memref<?x4x112xbf16, strided<[?, ?, 1], offset: ?>>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @within
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x4x112xbf16, strided<[?, ?, 1], offset: ?>>, %[[K:[a-z0-9]+]]: memref<128x112xbf16>, %[[N:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index
// CHECK: scf.forall (%[[I:.*]], %[[H:.*]]) in (%[[N]], 4) {
// The slices of columns are views of the operand; no view of a view is left.
// CHECK-DAG: %[[NOPE:.*]] = memref.subview %[[X]][%[[I]], %[[H]], 0] [%[[COUNT]], 1, 80] [1, 1, 1] : memref<?x4x112xbf16, strided<[?, ?, 1], offset: ?>> to memref<?x80xbf16, strided<[?, 1], offset: ?>>
// CHECK-DAG: %[[ROPE:.*]] = memref.subview %[[X]][%[[I]], %[[H]], 80] [%[[COUNT]], 1, 32] [1, 1, 1] : memref<?x4x112xbf16, strided<[?, ?, 1], offset: ?>> to memref<?x32xbf16, strided<[?, 1], offset: ?>>
// CHECK-DAG: %[[A:.*]] = wg.load %[[NOPE]] count %[[COUNT]] {mla.operand = "q"} : memref<?x80xbf16, strided<[?, 1], offset: ?>> -> <128x80xbf16>
// CHECK-DAG: %[[B:.*]] = wg.load %[[ROPE]] count %[[COUNT]] {mla.operand = "q"} : memref<?x32xbf16, strided<[?, 1], offset: ?>> -> <128x32xbf16>
// CHECK-NOT: wg.columns
// CHECK-NOT: memref.subview %[[X]]
// CHECK-NOT: {mla.operand = "q"}
// CHECK: wg.mma %[[A]], %[[B]] by %{{.*}} transposed : !wg.tile<128x80xbf16>, !wg.tile<128x32xbf16> by
func.func @within(%x: !rows, %k: memref<128x112xbf16>, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : !rows to tensor<?x4x112xbf16>
  %kt = bufferization.to_tensor %k restrict : memref<128x112xbf16> to tensor<128x112xbf16>
  %zero = arith.constant 0.0 : f32
  %nothing = arith.constant 0.0 : bf16
  %empty = tensor.empty() : tensor<128x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, %h, 0] [%count, 1, 112] [1, 1, 1] {mla.operand = "q"}
        : tensor<?x4x112xbf16> to tensor<?x112xbf16>
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<?x112xbf16> to tensor<128x112xbf16>
    %u = tensor.extract_slice %p[0, 0] [128, 80] [1, 1]
        : tensor<128x112xbf16> to tensor<128x80xbf16>
    %v = tensor.extract_slice %p[0, 80] [128, 32] [1, 1]
        : tensor<128x112xbf16> to tensor<128x32xbf16>
    %ku = tensor.extract_slice %kt[0, 0] [128, 80] [1, 1]
        : tensor<128x112xbf16> to tensor<128x80xbf16>
    %kv = tensor.extract_slice %kt[0, 80] [128, 32] [1, 1]
        : tensor<128x112xbf16> to tensor<128x32xbf16>
    %r = linalg.matmul indexing_maps = [#a, #b, #c]
        ins(%u, %ku : tensor<128x80xbf16>, tensor<128x80xbf16>)
        outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
    %w = linalg.matmul indexing_maps = [#a, #b, #c]
        ins(%v, %kv : tensor<128x32xbf16>, tensor<128x32xbf16>)
        outs(%r : tensor<128x128xf32>) -> tensor<128x128xf32>
  }
  return
}

// Where the tile comes from, not where it is read: the loop reads what is there already.
// The view's own first column and row count, too.
// CHECK-LABEL: func.func @read_in_a_loop
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x4x112xbf16, {{.*}}>, %[[N:[a-z0-9]+]]: index
// CHECK: scf.forall (%[[I:.*]], %[[H:.*]]) in
// CHECK-DAG: %[[LEFT:.*]] = memref.subview %[[X]][%[[I]], %[[H]], 16] [%{{.*}}, 1, 48] [1, 1, 1]
// CHECK-DAG: %[[RIGHT:.*]] = memref.subview %[[X]][%[[I]], %[[H]], 64] [%{{.*}}, 1, 48] [1, 1, 1]
// CHECK-DAG: %[[A:.*]] = wg.load %[[LEFT]] count %{{.*}} -> <64x48xbf16>
// CHECK-DAG: %[[B:.*]] = wg.load %[[RIGHT]] count %{{.*}} -> <64x48xbf16>
// CHECK: scf.for
// CHECK-NOT: wg.load
// CHECK-NOT: wg.columns
// CHECK: wg.mma %[[A]] by %[[B]] transposed
func.func @read_in_a_loop(%x: !rows, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : !rows to tensor<?x4x112xbf16>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %nothing = arith.constant 0.0 : bf16
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, %h, 16] [%count, 1, 96] [1, 1, 1]
        : tensor<?x4x112xbf16> to tensor<?x96xbf16>
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<?x96xbf16> to tensor<64x96xbf16>
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
      %u = tensor.extract_slice %p[0, 0] [64, 48] [1, 1]
          : tensor<64x96xbf16> to tensor<64x48xbf16>
      %v = tensor.extract_slice %p[0, 48] [64, 48] [1, 1]
          : tensor<64x96xbf16> to tensor<64x48xbf16>
      %r = linalg.matmul indexing_maps = [#a, #b, #c]
          ins(%u, %v : tensor<64x48xbf16>, tensor<64x48xbf16>)
          outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %r : tensor<64x64xf32>
    }
  }
  return
}

// All slices begin a panel, wherever they end: columns of one tile.
// CHECK-LABEL: func.func @panels
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x4x112xbf16, {{.*}}>, %[[N:[a-z0-9]+]]: index
// CHECK: scf.forall (%[[I:.*]], %[[H:.*]]) in
// CHECK: %[[VIEW:.*]] = memref.subview %[[X]][%[[I]], %[[H]], 0] [%{{.*}}, 1, 112] [1, 1, 1]
// CHECK: %[[TILE:.*]] = wg.load %[[VIEW]] count %{{.*}} {mla.operand = "q"} : {{.*}} -> <64x112xbf16>
// CHECK-NOT: wg.load
// CHECK-DAG: %[[A:.*]] = wg.columns %[[TILE]][0] : <64x112xbf16> -> <64x48xbf16>
// CHECK-DAG: %[[B:.*]] = wg.columns %[[TILE]][64] : <64x112xbf16> -> <64x48xbf16>
// CHECK-NOT: wg.load
// CHECK: wg.mma %[[A]] by %[[B]] transposed
func.func @panels(%x: !rows, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : !rows to tensor<?x4x112xbf16>
  %zero = arith.constant 0.0 : f32
  %nothing = arith.constant 0.0 : bf16
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, %h, 0] [%count, 1, 112] [1, 1, 1] {mla.operand = "q"}
        : tensor<?x4x112xbf16> to tensor<?x112xbf16>
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<?x112xbf16> to tensor<64x112xbf16>
    %u = tensor.extract_slice %p[0, 0] [64, 48] [1, 1]
        : tensor<64x112xbf16> to tensor<64x48xbf16>
    %v = tensor.extract_slice %p[0, 64] [64, 48] [1, 1]
        : tensor<64x112xbf16> to tensor<64x48xbf16>
    %r = linalg.matmul indexing_maps = [#a, #b, #c]
        ins(%u, %v : tensor<64x48xbf16>, tensor<64x48xbf16>)
        outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  }
  return
}
