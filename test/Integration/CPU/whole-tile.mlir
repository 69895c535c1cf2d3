// A tile that is inserted whole, with no slice of its valid rows before.

// REQUIRES: numpy

// RUN: %numpy_python %S/Inputs/call.py mla-run %s --array x=5x64x12 \
// RUN:   --expect "out=5x64=np.exp(x.sum(axis=2))"

func.func @sums(%x: tensor<?x64x12xf32>, %out: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x64x12xf32>
  %r = scf.forall (%i, %j) in (%n, 1) shared_outs(%o = %out) -> (tensor<?x64xf32>) {
    %t = tensor.extract_slice %x[%i, 0, 0] [1, 64, 12] [1, 1, 1]
        : tensor<?x64x12xf32> to tensor<64x12xf32>
    %e = tensor.empty() : tensor<64xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %sum = scf.for %key = %c0 to %c12 step %c4 iter_args(%l = %l0) -> (tensor<64xf32>) {
      %part = tensor.extract_slice %t[0, %key] [64, 4] [1, 1]
          : tensor<64x12xf32> to tensor<64x4xf32>
      %l1 = linalg.reduce { arith.addf } ins(%part : tensor<64x4xf32>) outs(%l : tensor<64xf32>)
          dimensions = [1]
      scf.yield %l1 : tensor<64xf32>
    }
    %y = linalg.exp ins(%sum : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [1, 64] [1, 1]
          : tensor<64xf32> into tensor<?x64xf32>
    }
  }
  return %r : tensor<?x64xf32>
}
