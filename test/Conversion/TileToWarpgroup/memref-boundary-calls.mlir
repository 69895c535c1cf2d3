// A function that another one calls changes with its calls, or is refused by name.
// Not yet: calls keep the old types.

// XFAIL: *
// RUN: mla-opt %s -mla-memref-boundary -o %t.mlir 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: 'func.call' op operand type mismatch

func.func @caller(%x: tensor<?xf32>) -> f32 {
  %f = func.call @callee(%x) : (tensor<?xf32>) -> f32
  return %f : f32
}
func.func private @callee(%x: tensor<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %f = tensor.extract %x[%c0] : tensor<?xf32>
  return %f : f32
}
