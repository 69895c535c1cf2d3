// exp(q k^T) v where a query sees a key. What stands for the predicate is put in by
// the test: it computes %visible from %query and %key.
#tile = affine_map<(r, c) -> (r, c)>
#qk_q = affine_map<(m, n, k) -> (m, k)>
#qk_k = affine_map<(m, n, k) -> (n, k)>
#qk_s = affine_map<(m, n, k) -> (m, n)>

func.func @masked(%q: tensor<?x8xf32>, %k: tensor<96x8xf32>, %v: tensor<96x16xf32>,
    %out: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %c40 = arith.constant 40 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %true = arith.constant true
  %zero = arith.constant 0.0 : f32
  %minus_inf = arith.constant 0xFF800000 : f32
  %queries = tensor.dim %q, %c0 : tensor<?x8xf32>
  %items = arith.ceildivui %queries, %c64 : index
  %r = scf.forall (%item, %j) in (%items, 1) shared_outs(%o = %out) -> (tensor<?x16xf32>) {
    %first = arith.muli %item, %c64 : index
    %rest = arith.subi %queries, %first : index
    %count = arith.minsi %rest, %c64 : index
    %missing = arith.subi %c64, %count : index
    %rows = tensor.extract_slice %q[%first, 0] [%count, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %qt = tensor.pad %rows low[0, 0] high[%missing, 0] {
    ^bb0(%x: index, %y: index):
      tensor.yield %zero : f32
    } : tensor<?x8xf32> to tensor<64x8xf32>
    %e_acc = tensor.empty() : tensor<64x16xf32>
    %e_s = tensor.empty() : tensor<64x16xf32>
    %acc0 = linalg.fill ins(%zero : f32) outs(%e_acc : tensor<64x16xf32>) -> tensor<64x16xf32>
    %all = scf.for %begin = %c0 to %c96 step %c16 iter_args(%acc = %acc0) -> (tensor<64x16xf32>) {
      %kt = tensor.extract_slice %k[%begin, 0] [16, 8] [1, 1] : tensor<96x8xf32> to tensor<16x8xf32>
      %vt = tensor.extract_slice %v[%begin, 0] [16, 16] [1, 1] : tensor<96x16xf32> to tensor<16x16xf32>
      %s0 = linalg.fill ins(%zero : f32) outs(%e_s : tensor<64x16xf32>) -> tensor<64x16xf32>
      %s1 = linalg.matmul indexing_maps = [#qk_q, #qk_k, #qk_s]
          ins(%qt, %kt : tensor<64x8xf32>, tensor<16x8xf32>)
          outs(%s0 : tensor<64x16xf32>) -> tensor<64x16xf32>
      %p = linalg.generic {indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}
          ins(%s1 : tensor<64x16xf32>) outs(%e_s : tensor<64x16xf32>) {
      ^bb0(%x: f32, %old: f32):
        %row = linalg.index 0 : index
        %column = linalg.index 1 : index
        %query = arith.addi %first, %row : index
        %key = arith.addi %begin, %column : index
        PREDICATE
        %y = arith.select %visible, %x, %minus_inf : f32
        linalg.yield %y : f32
      } -> tensor<64x16xf32>
      %e = linalg.exp ins(%p : tensor<64x16xf32>) outs(%e_s : tensor<64x16xf32>) -> tensor<64x16xf32>
      %acc1 = linalg.matmul ins(%e, %vt : tensor<64x16xf32>, tensor<16x16xf32>)
          outs(%acc : tensor<64x16xf32>) -> tensor<64x16xf32>
      scf.yield %acc1 : tensor<64x16xf32>
    } {mla.skip_masked}
    %valid = tensor.extract_slice %all[0, 0] [%count, 16] [1, 1] : tensor<64x16xf32> to tensor<?x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %valid into %o[%first, 0] [%count, 16] [1, 1]
          : tensor<?x16xf32> into tensor<?x16xf32>
    }
  }
  return %r : tensor<?x16xf32>
}
