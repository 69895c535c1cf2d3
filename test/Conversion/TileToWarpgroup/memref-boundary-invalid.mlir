// RUN: mla-opt %s -mla-memref-boundary -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -mla-memref-boundary -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 3

func.func @new_tensor(%x: tensor<64xf32>, %f: f32) -> (f32, tensor<64xf32>) {
  %empty = tensor.empty() : tensor<64xf32>
  %a = linalg.fill ins(%f : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  // expected-error @+1 {{'func.return' op result 1: expected a value that is written into an argument of 'new_tensor', got a new tensor}}
  return %f, %a : f32, tensor<64xf32>
}

// -----

// What a loop carries is not followed.
func.func @through_a_loop(%x: tensor<64xf32>, %n: index, %f: f32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<64xf32>) {
    %a = linalg.fill ins(%f : f32) outs(%y : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %a : tensor<64xf32>
  }
  // expected-error @+1 {{'func.return' op result 0: expected a value that is written into an argument of 'through_a_loop', got a new tensor}}
  return %r : tensor<64xf32>
}

// -----

// expected-error @+1 {{'func.func' op expected one block}}
func.func @blocks(%x: tensor<64xf32>) {
  cf.br ^bb1
^bb1:
  return
}
