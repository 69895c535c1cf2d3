// Function boundaries become memrefs of any strides with a unit last one. What is
// written in place is no result; what is new is a last argument. No memref.copy,
// which would call a runtime library.

// RUN: mla-opt %s -mla-cpu-bufferize -canonicalize | FileCheck %s --implicit-check-not=memref.copy

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @in_place
// CHECK-SAME: (%[[X:.*]]: memref<?x4xf32, strided<[?, 1], offset: ?>>, %[[OUT:.*]]: memref<?x4xf32, strided<[?, 1], offset: ?>>) {
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[OUT]] :
// CHECK: return{{$}}
func.func @in_place(%x: tensor<?x4xf32>, %out: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%out : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// A new tensor is copied into an argument that the caller brings.
// CHECK-LABEL: func.func @new
// CHECK-SAME: (%[[X:.*]]: memref<8x4xf32, strided<[?, 1], offset: ?>>, %[[R:.*]]: memref<8x4xf32{{.*}}>) {
// CHECK: linalg.copy ins(%{{.*}} : {{.*}}) outs(%[[R]] :
// CHECK: return{{$}}
func.func @new(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %r = linalg.exp ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// Read and written: a copy, made by a linalg op.
// CHECK-LABEL: func.func @needed_again
// CHECK-SAME: (%[[X:.*]]: memref<8x4xf32, strided<[?, 1], offset: ?>>, %[[OUT:.*]]: memref<8x4xf32, strided<[?, 1], offset: ?>>, %{{.*}}) {
// CHECK: %[[NEW:.*]] = memref.alloc
// CHECK: linalg.copy ins(%[[X]] : {{.*}}) outs(%[[NEW]] :
// CHECK: memref.store %{{.*}}, %[[NEW]]
// CHECK: linalg.add ins(%[[X]], %[[NEW]] : {{.*}}) outs(%[[OUT]] :
func.func @needed_again(%x: tensor<8x4xf32>, %out: tensor<8x4xf32>, %f: f32, %i: index)
    -> tensor<8x4xf32> {
  %y = tensor.insert %f into %x[%i, %i] : tensor<8x4xf32>
  %r = linalg.add ins(%x, %y : tensor<8x4xf32>, tensor<8x4xf32>) outs(%out : tensor<8x4xf32>)
      -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// Memrefs pass through.
// CHECK-LABEL: func.func @memref
// CHECK-SAME: (%[[M:.*]]: memref<4xf32>)
func.func @memref(%m: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = bufferization.to_tensor %m restrict writable : memref<4xf32> to tensor<4xf32>
  %r = linalg.fill ins(%zero : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: linalg.fill ins(%{{.*}} : f32) outs(%[[M]] : memref<4xf32>)
  // CHECK-NEXT: return
  bufferization.materialize_in_destination %r in restrict writable %m
      : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
