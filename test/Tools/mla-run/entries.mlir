// Which function is called, and what becomes of its results.

// RUN: not mla-run %s 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: the module has several public functions: 'sum', 'twice'; name one of them as the entry
// RUN: not mla-run %s --entry product 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: entry: expected a function with a body, one of 'sum', 'twice', 'helper', got 'product'

// A result that lives in no argument is an argument of the call. One that does
// is not.
// RUN: mla-run %s --entry sum --signature | FileCheck %s --check-prefix=SUM
// SUM: argument 0: 'a' (f32 tensor of shape [4])
// SUM-NEXT: argument 1: 'b' (f32 tensor of shape [4])
// SUM-NEXT: argument 2: 'result0' (f32 tensor of shape [4]), written
// SUM-NOT: argument
// RUN: mla-run %s --entry sum --arg a=[1,2,3,4] --arg b=iota --expect result0=[1,3,5,7]

// RUN: mla-run %s --entry twice --arg a=[1,2] --repeat 3 --expect a=[8,16]

// A private function can be called by name. `written` follows its argument.
// RUN: mla-run %s --entry helper --arg x=[1,2] --arg y=nan:2 --print y \
// RUN:   | FileCheck %s --check-prefix=HELPER
// HELPER: y = [1, 2]

func.func @sum(%a: tensor<4xf32>, %b: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  %s = linalg.add ins(%a, %b : tensor<4xf32>, tensor<4xf32>)
      outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %s, %b : tensor<4xf32>, tensor<4xf32>
}

func.func @twice(%a: tensor<?xf32>) -> tensor<?xf32> {
  %s = linalg.add ins(%a, %a : tensor<?xf32>, tensor<?xf32>)
      outs(%a : tensor<?xf32>) -> tensor<?xf32>
  return %s : tensor<?xf32>
}

func.func private @helper(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c = linalg.copy ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %c : tensor<?xf32>
}
