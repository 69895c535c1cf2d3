// A kernel that has nothing to do with mla: exp(q k^T) v over the sum, for batches
// of up to 64 queries, in loops and linalg ops alone. The same passes make a fast
// kernel of it.

// REQUIRES: numpy

// RUN: %numpy_python %S/Inputs/call.py mla-run %s --array q=3x2x50x16 \
// RUN:   --array k=3x2x96x16 --array v=3x2x96x24 \
// RUN:   --expect "out=3x2x50x24=softmax(0.25 * q @ t(k)) @ v" --scalar scale=0.25
// RUN: mla-opt %s --mla-lower="target=cpu-avx2 stop-after=vector" 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not="stay in rows"
// CHECK: func.func @attend
// CHECK: scf.forall
// CHECK: vector.contract
// CHECK: math.exp
// CHECK: vector.contract

#rows = affine_map<(r, c) -> (r)>
#tile = affine_map<(r, c) -> (r, c)>
#qk_q = affine_map<(m, n, k) -> (m, k)>
#qk_k = affine_map<(m, n, k) -> (n, k)>
#qk_s = affine_map<(m, n, k) -> (m, n)>

func.func @attend(%q: tensor<?x2x?x16xf32>, %k: tensor<?x2x96x16xf32>,
    %v: tensor<?x2x96x24xf32>, %scale: f32, %out: tensor<?x2x?x24xf32>)
    -> tensor<?x2x?x24xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x2x?x16xf32>
  %count = tensor.dim %q, %c2 : tensor<?x2x?x16xf32>
  %missing = arith.subi %c64, %count : index
  %r = scf.forall (%b, %h) in (%batch, 2) shared_outs(%o = %out) -> (tensor<?x2x?x24xf32>) {
    %rows = tensor.extract_slice %q[%b, %h, 0, 0] [1, 1, %count, 16] [1, 1, 1, 1]
        : tensor<?x2x?x16xf32> to tensor<?x16xf32>
    %qt = tensor.pad %rows low[0, 0] high[%missing, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
    } : tensor<?x16xf32> to tensor<64x16xf32>
    %e_acc = tensor.empty() : tensor<64x24xf32>
    %e_sum = tensor.empty() : tensor<64xf32>
    %e_s = tensor.empty() : tensor<64x32xf32>
    %acc0 = linalg.fill ins(%zero : f32) outs(%e_acc : tensor<64x24xf32>) -> tensor<64x24xf32>
    %sum0 = linalg.fill ins(%zero : f32) outs(%e_sum : tensor<64xf32>) -> tensor<64xf32>
    %w:2 = scf.for %j = %c0 to %c96 step %c32 iter_args(%acc = %acc0, %sum = %sum0)
        -> (tensor<64x24xf32>, tensor<64xf32>) {
      %kt = tensor.extract_slice %k[%b, %h, %j, 0] [1, 1, 32, 16] [1, 1, 1, 1]
          : tensor<?x2x96x16xf32> to tensor<32x16xf32>
      %vt = tensor.extract_slice %v[%b, %h, %j, 0] [1, 1, 32, 24] [1, 1, 1, 1]
          : tensor<?x2x96x24xf32> to tensor<32x24xf32>
      %s0 = linalg.fill ins(%zero : f32) outs(%e_s : tensor<64x32xf32>) -> tensor<64x32xf32>
      %s = linalg.matmul indexing_maps = [#qk_q, #qk_k, #qk_s]
          ins(%qt, %kt : tensor<64x16xf32>, tensor<32x16xf32>)
          outs(%s0 : tensor<64x32xf32>) -> tensor<64x32xf32>
      %p = linalg.generic {indexing_maps = [#tile, #tile],
          iterator_types = ["parallel", "parallel"]}
          ins(%s : tensor<64x32xf32>) outs(%e_s : tensor<64x32xf32>) {
      ^bb0(%x: f32, %old: f32):
        %y = arith.mulf %x, %scale : f32
        %z = math.exp %y : f32
        linalg.yield %z : f32
      } -> tensor<64x32xf32>
      %sum1 = linalg.generic {indexing_maps = [#tile, #rows],
          iterator_types = ["parallel", "reduction"]}
          ins(%p : tensor<64x32xf32>) outs(%sum : tensor<64xf32>) {
      ^bb0(%x: f32, %old: f32):
        %y = arith.addf %x, %old : f32
        linalg.yield %y : f32
      } -> tensor<64xf32>
      %acc1 = linalg.matmul ins(%p, %vt : tensor<64x32xf32>, tensor<32x24xf32>)
          outs(%acc : tensor<64x24xf32>) -> tensor<64x24xf32>
      scf.yield %acc1, %sum1 : tensor<64x24xf32>, tensor<64xf32>
    }
    %quotient = linalg.generic {indexing_maps = [#tile, #rows, #tile],
        iterator_types = ["parallel", "parallel"]}
        ins(%w#0, %w#1 : tensor<64x24xf32>, tensor<64xf32>) outs(%e_acc : tensor<64x24xf32>) {
    ^bb0(%x: f32, %y: f32, %old: f32):
      %z = arith.divf %x, %y : f32
      linalg.yield %z : f32
    } -> tensor<64x24xf32>
    %valid = tensor.extract_slice %quotient[0, 0] [%count, 24] [1, 1]
        : tensor<64x24xf32> to tensor<?x24xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %valid into %o[%b, %h, 0, 0] [1, 1, %count, 24] [1, 1, 1, 1]
          : tensor<?x24xf32> into tensor<?x2x?x24xf32>
    }
  }
  return %r : tensor<?x2x?x24xf32>
}
