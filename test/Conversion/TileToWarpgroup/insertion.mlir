// An insertion into a result stores the rows that it inserts, straight into the
// memory of the destination; the loop has no results, and nothing is copied after.

// RUN: mla-opt %s -mla-tile-to-warpgroup -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @insertion
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index, %{{.*}}: f32, %[[OUT:[a-z0-9]+]]: memref<?x4x64xf32>, %[[LSE:[a-z0-9]+]]: memref<?x4xf32>
// CHECK: scf.forall (%[[I:.*]], %[[H:.*]]) in (%[[N]], 4) {
// CHECK-DAG: %[[OV:.*]] = memref.subview %[[OUT]][%[[I]], %[[H]], 0] [%[[COUNT]], 1, 64] [1, 1, 1] : memref<?x4x64xf32> to memref<?x64xf32, strided<[256, 1], offset: ?>>
// CHECK-DAG: %[[LV:.*]] = memref.subview %[[LSE]][%[[I]], %[[H]]] [128, 1] [1, 1] : memref<?x4xf32> to memref<128xf32, strided<[4], offset: ?>>
// CHECK-DAG: wg.store %{{.*}}, %[[OV]] count %[[COUNT]] : <128x64xf32, accumulator>, memref<?x64xf32, strided<[256, 1], offset: ?>>
// CHECK-DAG: wg.store %{{.*}}, %[[LV]] count %c128 : <128xf32, row>, memref<128xf32, strided<[4], offset: ?>>
// CHECK: }
// CHECK-NEXT: return
func.func @insertion(%n: index, %count: index, %a: f32, %out: memref<?x4x64xf32>,
    %lse: memref<?x4xf32>) {
  %ot = bufferization.to_tensor %out restrict writable : memref<?x4x64xf32> to tensor<?x4x64xf32>
  %lt = bufferization.to_tensor %lse restrict writable : memref<?x4xf32> to tensor<?x4xf32>
  %empty = tensor.empty() : tensor<128x64xf32>
  %column = tensor.empty() : tensor<128xf32>
  %s = linalg.fill ins(%a : f32) outs(%empty : tensor<128x64xf32>) -> tensor<128x64xf32>
  %m = linalg.fill ins(%a : f32) outs(%column : tensor<128xf32>) -> tensor<128xf32>
  %r:2 = scf.forall (%i, %h) in (%n, 4) shared_outs(%o = %ot, %l = %lt)
      -> (tensor<?x4x64xf32>, tensor<?x4xf32>) {
    %t = linalg.mul ins(%s, %s : tensor<128x64xf32>, tensor<128x64xf32>)
        outs(%empty : tensor<128x64xf32>) -> tensor<128x64xf32>
    %rows = tensor.extract_slice %t[0, 0] [%count, 64] [1, 1]
        : tensor<128x64xf32> to tensor<?x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %rows into %o[%i, %h, 0] [%count, 1, 64] [1, 1, 1]
          : tensor<?x64xf32> into tensor<?x4x64xf32>
      tensor.parallel_insert_slice %m into %l[%i, %h] [128, 1] [1, 1]
          : tensor<128xf32> into tensor<?x4xf32>
    }
  }
  bufferization.materialize_in_destination %r#0 in restrict writable %out
      : (tensor<?x4x64xf32>, memref<?x4x64xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %lse
      : (tensor<?x4xf32>, memref<?x4xf32>) -> ()
  return
}
