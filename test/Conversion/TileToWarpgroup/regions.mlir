// An element that is read inside a region of another op is a load as well.
// Not yet: ops in regions are copied as they are, and tensors stay.

// XFAIL: *
// RUN: mla-opt %s -mla-tile-to-warpgroup -canonicalize | FileCheck %s --implicit-check-not=tensor

// CHECK-LABEL: func.func @branch
// CHECK: scf.if
// CHECK: memref.load
func.func @branch(%x: memref<?xf32>, %n: index, %cond: i1, %out: memref<?xf32>) {
  %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
  scf.forall (%i, %h) in (%n, 4) {
    scf.if %cond {
      %a = tensor.extract %t[%i] : tensor<?xf32>
      memref.store %a, %out[%i] : memref<?xf32>
    }
  }
  return
}

// CHECK-LABEL: func.func @body
// CHECK: wg.map
// CHECK: memref.load
func.func @body(%x: memref<?xf32>, %n: index, %f: f32, %out: memref<?x64xf32>) {
  %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
  %ot = bufferization.to_tensor %out restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  %empty = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%f : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = scf.forall (%i, %h) in (%n, 4) shared_outs(%o = %ot) -> (tensor<?x64xf32>) {
    %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32):
      %j = linalg.index 1 : index
      %b = tensor.extract %t[%j] : tensor<?xf32>
      %z = arith.addf %p, %b : f32
      linalg.yield %z : f32
    } -> tensor<64x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %w into %o[%i, 0] [64, 64] [1, 1]
          : tensor<64x64xf32> into tensor<?x64xf32>
    }
  }
  bufferization.materialize_in_destination %r in restrict writable %out
      : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}
