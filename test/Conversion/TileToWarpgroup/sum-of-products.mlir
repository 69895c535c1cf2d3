// Products that add up to one accumulator are one product of several pairs, where
// nobody else wants the sum that is there in between.

// RUN: mla-opt %s -mla-tile-to-warpgroup -canonicalize -cse | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
!x = tensor<64x64xbf16>
!y = tensor<64x16xbf16>
!s = tensor<64x64xf32>

// Of three products with sums of different lengths.
// CHECK-LABEL: func.func @three
// CHECK: %[[X:.*]] = wg.load %{{.*}} -> <64x64xbf16>
// CHECK: %[[Y:.*]] = wg.load %{{.*}} -> <64x16xbf16>
// CHECK: %[[P:.*]] = wg.mma %[[X]], %[[Y]], %[[X]] by %[[X]], %[[Y]], %[[X]] transposed : !wg.tile<64x64xbf16>, !wg.tile<64x16xbf16>, !wg.tile<64x64xbf16> by !wg.tile<64x64xbf16>, !wg.tile<64x16xbf16>, !wg.tile<64x64xbf16> -> <<64x64xf32, accumulator>>
// CHECK-NEXT: wg.wait %[[P]]
// CHECK-NOT: {{wg.(mma|wait)}}
func.func @three(%xs: memref<?x64xbf16>, %ys: memref<?x16xbf16>, %n: index) {
  %xt = bufferization.to_tensor %xs restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %yt = bufferization.to_tensor %ys restrict : memref<?x16xbf16> to tensor<?x16xbf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : !s
  %init = linalg.fill ins(%zero : f32) outs(%empty : !s) -> !s
  scf.forall (%i, %h) in (%n, 4) {
    %x = tensor.extract_slice %xt[%i, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to !x
    %y = tensor.extract_slice %yt[%i, 0] [64, 16] [1, 1] : tensor<?x16xbf16> to !y
    %s = linalg.matmul indexing_maps = [#a, #b, #c] ins(%x, %x : !x, !x) outs(%init : !s) -> !s
    %t = linalg.matmul indexing_maps = [#a, #b, #c] ins(%y, %y : !y, !y) outs(%s : !s) -> !s
    %u = linalg.matmul indexing_maps = [#a, #b, #c] ins(%x, %x : !x, !x) outs(%t : !s) -> !s
  }
  return
}

// The first one's accumulator is the sum's.
// CHECK-LABEL: func.func @accumulator
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: wg.mma %{{[0-9]+}}, %{{[0-9]+}} by %{{[0-9]+}}, %{{[0-9]+}} accumulate %[[ACC]] :
// CHECK-NOT: wg.mma
func.func @accumulator(%xs: memref<?x64xbf16>, %n: index, %f: f32) {
  %xt = bufferization.to_tensor %xs restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %empty = tensor.empty() : !s
  %init = linalg.fill ins(%f : f32) outs(%empty : !s) -> !s
  scf.forall (%i, %h) in (%n, 4) {
    %r = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %init) -> (!s) {
      %x = tensor.extract_slice %xt[%k, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to !x
      %s = linalg.matmul ins(%x, %x : !x, !x) outs(%acc : !s) -> !s
      %t = linalg.matmul ins(%x, %x : !x, !x) outs(%s : !s) -> !s
      scf.yield %t : !s
    }
  }
  return
}

// Two products, since one of them multiplies by rows and the other by columns.
// CHECK-LABEL: func.func @transposed
// CHECK: wg.mma %{{[0-9]+}} by %{{[0-9]+}} transposed :
// CHECK: %[[S:.*]] = wg.wait
// CHECK: wg.mma %{{[0-9]+}} by %{{[0-9]+}} accumulate %[[S]] :
func.func @transposed(%xs: memref<?x64xbf16>, %n: index) {
  %xt = bufferization.to_tensor %xs restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : !s
  %init = linalg.fill ins(%zero : f32) outs(%empty : !s) -> !s
  scf.forall (%i, %h) in (%n, 4) {
    %x = tensor.extract_slice %xt[%i, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to !x
    %s = linalg.matmul indexing_maps = [#a, #b, #c] ins(%x, %x : !x, !x) outs(%init : !s) -> !s
    %t = linalg.matmul ins(%x, %x : !x, !x) outs(%s : !s) -> !s
  }
  return
}

// Two products, since left operands in registers and in shared memory do not mix.
// CHECK-LABEL: func.func @registers
// CHECK: wg.mma %{{[0-9]+}} by %{{[0-9]+}} :
// CHECK: wg.wait
// CHECK: wg.mma %{{[0-9]+}} by %{{[0-9]+}} :
// CHECK: %[[T:.*]] = wg.wait
// CHECK: %[[P:.*]] = wg.operand_a
// CHECK: wg.mma %[[P]] by %{{[0-9]+}} accumulate %[[T]] :
func.func @registers(%xs: memref<?x64xbf16>, %n: index) {
  %xt = bufferization.to_tensor %xs restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : !s
  %half = tensor.empty() : !x
  %init = linalg.fill ins(%zero : f32) outs(%empty : !s) -> !s
  scf.forall (%i, %h) in (%n, 4) {
    %x = tensor.extract_slice %xt[%i, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to !x
    %s = linalg.matmul ins(%x, %x : !x, !x) outs(%init : !s) -> !s
    %p = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%s : !s) outs(%half : !x) {
    ^bb0(%e: f32, %o: bf16):
      %t = arith.truncf %e : f32 to bf16
      linalg.yield %t : bf16
    } -> !x
    %t = linalg.matmul indexing_maps = [#a, affine_map<(m, n, k) -> (k, n)>, #c]
        ins(%x, %x : !x, !x) outs(%init : !s) -> !s
    %u = linalg.matmul ins(%p, %x : !x, !x) outs(%t : !s) -> !s
  }
  return
}
