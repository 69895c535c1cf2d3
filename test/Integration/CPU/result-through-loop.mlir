// A destination that is written by the iterations of a loop, one after the other, is
// written in place like any other and no result of its own.

// REQUIRES: numpy

// RUN: mla-run %s --signature | FileCheck %s
// CHECK: argument 0: 'x'
// CHECK: argument 1: 'out' {{.*}} written
// CHECK-NOT: argument
// RUN: %numpy_python %S/Inputs/call.py mla-run %s --array x=5x12 \
// RUN:   --expect "out=5x12=np.exp(x)"

func.func @rows(%x: tensor<?x12xf32>, %out: tensor<?x12xf32>) -> tensor<?x12xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x12xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %out) -> (tensor<?x12xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 12] [1, 1] : tensor<?x12xf32> to tensor<1x12xf32>
    %dest = tensor.extract_slice %o[%i, 0] [1, 12] [1, 1] : tensor<?x12xf32> to tensor<1x12xf32>
    %y = linalg.exp ins(%row : tensor<1x12xf32>) outs(%dest : tensor<1x12xf32>) -> tensor<1x12xf32>
    %next = tensor.insert_slice %y into %o[%i, 0] [1, 12] [1, 1]
        : tensor<1x12xf32> into tensor<?x12xf32>
    scf.yield %next : tensor<?x12xf32>
  }
  return %r : tensor<?x12xf32>
}
