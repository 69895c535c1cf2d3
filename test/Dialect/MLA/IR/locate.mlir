// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @tensor
// CHECK-SAME: %[[ITEM:[a-z0-9]+]]: index, %[[OFFSETS:[a-z0-9]+]]: tensor<?xi32>
// CHECK: %{{.*}}, %{{.*}}, %{{.*}} = mla.locate %[[ITEM]] in %[[OFFSETS]] tile 128 : tensor<?xi32>
func.func @tensor(%item: index, %offsets: tensor<?xi32>) -> (index, index, index) {
  %sequence, %first, %count = mla.locate %item in %offsets tile 128 : tensor<?xi32>
  return %sequence, %first, %count : index, index, index
}

// CHECK-LABEL: func.func @memref
// CHECK: mla.locate %{{.*}} in %{{.*}} tile 1 {test.note} : memref<3xui32, strided<[2]>>
func.func @memref(%item: index, %offsets: memref<3xui32, strided<[2]>>) -> index {
  %sequence, %first, %count =
      mla.locate %item in %offsets tile 1 {test.note} : memref<3xui32, strided<[2]>>
  return %count : index
}
