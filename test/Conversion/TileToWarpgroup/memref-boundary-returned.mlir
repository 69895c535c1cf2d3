// An argument that is returned as it is needs no copy into itself.
// Not yet: the copy that is made reads a memref as if it were a tensor.

// XFAIL: *
// RUN: mla-opt %s -mla-memref-boundary | FileCheck %s

// CHECK-LABEL: func.func @same(%{{.*}}: memref<?xf32, strided<[1], offset: ?>>) {
// CHECK: return{{$}}
func.func @same(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
