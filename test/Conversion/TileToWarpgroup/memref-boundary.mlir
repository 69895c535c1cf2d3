// Tensors at a function's boundary become memrefs of any strides but the last; a result
// goes into the argument that it was made from, and only such arguments are written.

// RUN: mla-opt %s -mla-memref-boundary | FileCheck %s

// CHECK-LABEL: func.func @arguments
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<?x4x64xbf16, strided<[?, ?, 1], offset: ?>>, %[[N:[a-z0-9]+]]: index, %[[OUT:[a-z0-9]+]]: memref<?xf32, strided<[1], offset: ?>>, %[[ONE:[a-z0-9]+]]: memref<f32, strided<[], offset: ?>>) {
// CHECK-DAG: bufferization.to_tensor %[[X]] restrict : memref<?x4x64xbf16, strided<[?, ?, 1], offset: ?>> to tensor<?x4x64xbf16>
// CHECK-DAG: %[[OT:.*]] = bufferization.to_tensor %[[OUT]] restrict writable : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
// CHECK-DAG: bufferization.to_tensor %[[ONE]] restrict : memref<f32, strided<[], offset: ?>> to tensor<f32>
// CHECK: %[[R:.*]] = scf.forall (%{{.*}}) in (%[[N]]) shared_outs(%{{.*}} = %[[OT]]) -> (tensor<?xf32>)
// CHECK: bufferization.materialize_in_destination %[[R]] in restrict writable %[[OUT]] : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
// CHECK-NEXT: return{{$}}
func.func @arguments(%x: tensor<?x4x64xbf16>, %n: index, %out: tensor<?xf32>, %one: tensor<f32>)
    -> tensor<?xf32> {
  %r = scf.forall (%i) in (%n) shared_outs(%o = %out) -> (tensor<?xf32>) {
    %s = tensor.extract_slice %o[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %r : tensor<?xf32>
}

// Through ops that write in place, and casts; results that are no tensors stay.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[OUT:[a-z0-9]+]]: memref<64xf32, strided<[1], offset: ?>>, %[[F:[a-z0-9]+]]: f32) -> f32 {
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[OUT]] : (tensor<?xf32>, memref<64xf32, {{.*}}>) -> ()
// CHECK-NEXT: return %[[F]] : f32
func.func @chain(%out: tensor<64xf32>, %f: f32) -> (tensor<?xf32>, f32) {
  %a = linalg.fill ins(%f : f32) outs(%out : tensor<64xf32>) -> tensor<64xf32>
  %b = linalg.exp ins(%a : tensor<64xf32>) outs(%a : tensor<64xf32>) -> tensor<64xf32>
  %c = tensor.cast %b : tensor<64xf32> to tensor<?xf32>
  return %c, %f : tensor<?xf32>, f32
}

// CHECK-LABEL: func.func @two_results
// CHECK-SAME: (%[[A:[a-z0-9]+]]: memref{{.*}}, %[[B:[a-z0-9]+]]: memref{{.*}}, %{{.*}}: f32) {
// CHECK-DAG: %[[X:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?xf32>)
// CHECK-DAG: %[[Y:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?x8xf32>)
// CHECK-DAG: bufferization.materialize_in_destination %[[X]] in restrict writable %[[A]]
// CHECK-DAG: bufferization.materialize_in_destination %[[Y]] in restrict writable %[[B]]
// CHECK: return{{$}}
func.func @two_results(%a: tensor<?xf32>, %b: tensor<?x8xf32>, %f: f32)
    -> (tensor<?x8xf32>, tensor<?xf32>) {
  %x = linalg.fill ins(%f : f32) outs(%a : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.fill ins(%f : f32) outs(%b : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y, %x : tensor<?x8xf32>, tensor<?xf32>
}

// Without tensors, or without a body: as it was.
// CHECK-LABEL: func.func @memrefs(%{{.*}}: memref<?xf32>) -> index {
func.func @memrefs(%x: memref<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  return %c0 : index
}
// CHECK: func.func private @outside(tensor<?xf32>)
func.func private @outside(tensor<?xf32>)
