// One element of an operand is a load; ops on scalars stay.

// RUN: mla-opt %s -mla-tile-to-warpgroup | FileCheck %s

// CHECK-LABEL: func.func @extract
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?xi32>, %[[N:[a-z0-9]+]]: index, %[[OUT:[a-z0-9]+]]: memref<?xi32>
// CHECK: scf.forall (%[[I:.*]], %{{.*}}) in
// CHECK: %[[A:.*]] = memref.load %[[X]][%[[I]]] : memref<?xi32>
// CHECK: %[[B:.*]] = arith.addi %[[A]], %[[A]] : i32
// CHECK: memref.store %[[B]], %[[OUT]][%[[I]]] : memref<?xi32>
func.func @extract(%x: memref<?xi32>, %n: index, %out: memref<?xi32>) {
  %t = bufferization.to_tensor %x restrict : memref<?xi32> to tensor<?xi32>
  scf.forall (%i, %h) in (%n, 4) {
    %a = tensor.extract %t[%i] : tensor<?xi32>
    %b = arith.addi %a, %a : i32
    memref.store %b, %out[%i] : memref<?xi32>
  }
  return
}
