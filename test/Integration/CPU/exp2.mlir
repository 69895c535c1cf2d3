// How exact exp2 is once it is compiled, one at a time and in vectors: relative
// error 2.3e-7, 0 at -inf, NaN at NaN, infinity from 128 on.

// REQUIRES: numpy

// RUN: %numpy_python %S/Inputs/exp2.py mla-run %s one_by_one cpu
// RUN: %numpy_python %S/Inputs/exp2.py mla-run %s in_vectors cpu
// RUN: %numpy_python %S/Inputs/exp2.py mla-run %s in_vectors cpu-generic

#id = affine_map<(i) -> (i)>

func.func @one_by_one(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %old: f32):
    %b = math.exp2 %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @in_vectors(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %n = arith.divui %size, %c64 : index
  %r = scf.forall (%i) in (%n) shared_outs(%o = %y) -> (tensor<?xf32>) {
    %first = arith.muli %i, %c64 : index
    %part = tensor.extract_slice %x[%first] [64] [1] : tensor<?xf32> to tensor<64xf32>
    %e = tensor.empty() : tensor<64xf32>
    %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%part : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: f32, %old: f32):
      %b = math.exp2 %a : f32
      linalg.yield %b : f32
    } -> tensor<64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %o[%first] [64] [1]
          : tensor<64xf32> into tensor<?xf32>
    }
  }
  return %r : tensor<?xf32>
}
