// Kernels whose queries cannot stand side by side in lanes: a remark says so and
// why, and the result is right all the same.

// REQUIRES: numpy

// RUN: mla-opt %s --mla-lower="target=cpu stop-after=strips" -o /dev/null 2>&1 \
// RUN:   | grep remark: | FileCheck %s

// RUN: %numpy_python %S/Inputs/call.py mla-run %s --entry whole --array x=5x20x12 \
// RUN:   --expect "out=5x20x20=softmax(x @ t(x))"
// RUN: %numpy_python %S/Inputs/call.py mla-run %s --entry odd --array x=5x20x12 \
// RUN:   --expect "out=5x20=x.sum(axis=2)"
// RUN: %numpy_python %S/Inputs/call.py mla-run %s --entry gram --array x=5x64x12 \
// RUN:   --expect "out=5x64x64=x @ t(x)"

#rows = affine_map<(r, c) -> (r)>
#tile = affine_map<(r, c) -> (r, c)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// No loop over keys: all of a softmax at once.
// CHECK: queries stay in rows, which is slower: there is no loop that carries tiles
func.func @whole(%x: tensor<?x20x12xf32>, %out: tensor<?x20x20xf32>) -> tensor<?x20x20xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %minus_inf = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c0 : tensor<?x20x12xf32>
  %r = scf.forall (%i, %j) in (%n, 1) shared_outs(%o = %out) -> (tensor<?x20x20xf32>) {
    %t = tensor.extract_slice %x[%i, 0, 0] [1, 20, 12] [1, 1, 1]
        : tensor<?x20x12xf32> to tensor<20x12xf32>
    %e = tensor.empty() : tensor<20x20xf32>
    %e_row = tensor.empty() : tensor<20xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<20x20xf32>) -> tensor<20x20xf32>
    %s = linalg.matmul indexing_maps = [#a, #b, #c] ins(%t, %t : tensor<20x12xf32>, tensor<20x12xf32>)
        outs(%s0 : tensor<20x20xf32>) -> tensor<20x20xf32>
    %m0 = linalg.fill ins(%minus_inf : f32) outs(%e_row : tensor<20xf32>) -> tensor<20xf32>
    %m = linalg.reduce { arith.maximumf } ins(%s : tensor<20x20xf32>) outs(%m0 : tensor<20xf32>)
        dimensions = [1]
    %p = linalg.generic {indexing_maps = [#tile, #rows, #tile],
        iterator_types = ["parallel", "parallel"]}
        ins(%s, %m : tensor<20x20xf32>, tensor<20xf32>) outs(%e : tensor<20x20xf32>) {
    ^bb0(%u: f32, %w: f32, %old: f32):
      %d = arith.subf %u, %w : f32
      %y = math.exp %d : f32
      linalg.yield %y : f32
    } -> tensor<20x20xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%e_row : tensor<20xf32>) -> tensor<20xf32>
    %l = linalg.reduce { arith.addf } ins(%p : tensor<20x20xf32>) outs(%l0 : tensor<20xf32>)
        dimensions = [1]
    %q = linalg.generic {indexing_maps = [#tile, #rows, #tile],
        iterator_types = ["parallel", "parallel"]}
        ins(%p, %l : tensor<20x20xf32>, tensor<20xf32>) outs(%e : tensor<20x20xf32>) {
    ^bb0(%u: f32, %w: f32, %old: f32):
      %y = arith.divf %u, %w : f32
      linalg.yield %y : f32
    } -> tensor<20x20xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q into %o[%i, 0, 0] [1, 20, 20] [1, 1, 1]
          : tensor<20x20xf32> into tensor<?x20x20xf32>
    }
  }
  return %r : tensor<?x20x20xf32>
}

// CHECK: queries stay in rows, which is slower: 'tensor.extract_slice' makes a tile of queries in a way that strips cannot
func.func @odd(%x: tensor<?x20x12xf32>, %out: tensor<?x20xf32>) -> tensor<?x20xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x20x12xf32>
  %r = scf.forall (%i, %j) in (%n, 1) shared_outs(%o = %out) -> (tensor<?x20xf32>) {
    %e_row = tensor.empty() : tensor<20xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%e_row : tensor<20xf32>) -> tensor<20xf32>
    %sum = scf.for %key = %c0 to %c12 step %c4 iter_args(%l = %l0) -> (tensor<20xf32>) {
      %t = tensor.extract_slice %x[%i, 0, %key] [1, 20, 4] [1, 1, 1]
          : tensor<?x20x12xf32> to tensor<20x4xf32>
      %l1 = linalg.reduce { arith.addf } ins(%t : tensor<20x4xf32>) outs(%l : tensor<20xf32>)
          dimensions = [1]
      scf.yield %l1 : tensor<20xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %o[%i, 0] [1, 20] [1, 1]
          : tensor<20xf32> into tensor<?x20xf32>
    }
  }
  return %r : tensor<?x20xf32>
}

// Queries against queries.
// CHECK: queries stay in rows, which is slower: an op uses tiles of queries in more than one way
func.func @gram(%x: tensor<?x64x12xf32>, %out: tensor<?x64x64xf32>) -> tensor<?x64x64xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x64x12xf32>
  %r = scf.forall (%i, %j) in (%n, 1) shared_outs(%o = %out) -> (tensor<?x64x64xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = scf.for %key = %c0 to %c12 step %c4 iter_args(%s = %s0) -> (tensor<64x64xf32>) {
      %t = tensor.extract_slice %x[%i, 0, %key] [1, 64, 4] [1, 1, 1]
          : tensor<?x64x12xf32> to tensor<64x4xf32>
      %s1 = linalg.matmul indexing_maps = [#a, #b, #c]
          ins(%t, %t : tensor<64x4xf32>, tensor<64x4xf32>)
          outs(%s : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %s1 : tensor<64x64xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %o[%i, 0, 0] [1, 64, 64] [1, 1, 1]
          : tensor<64x64xf32> into tensor<?x64x64xf32>
    }
  }
  return %r : tensor<?x64x64xf32>
}
