// A work item's place in the offsets is found where they are: in memory.

// RUN: mla-opt %s -mla-tile-to-warpgroup -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @locate
// CHECK-SAME: %[[OFFSETS:[a-z0-9]+]]: memref<?xui32>, %[[N:[a-z0-9]+]]: index, %[[OUT:[a-z0-9]+]]: memref<?xindex>
// CHECK: scf.forall (%[[ITEM:.*]], %{{.*}}) in (%[[N]], 4)
// CHECK-NEXT: %[[SEQUENCE:.*]], %[[FIRST:.*]], %[[COUNT:.*]] = wg.locate %[[ITEM]] in %[[OFFSETS]] tile 128 : memref<?xui32>
// CHECK-NEXT: memref.store %[[SEQUENCE]], %[[OUT]][%[[FIRST]]]
// CHECK-NEXT: memref.store %[[COUNT]], %[[OUT]][%[[ITEM]]]
// CHECK-NOT: mla.locate
func.func @locate(%offsets: memref<?xui32>, %n: index, %out: memref<?xindex>) {
  %t = bufferization.to_tensor %offsets restrict : memref<?xui32> to tensor<?xui32>
  scf.forall (%i, %h) in (%n, 4) {
    %sequence, %first, %count = mla.locate %i in %t tile 128 : tensor<?xui32>
    memref.store %sequence, %out[%first] : memref<?xindex>
    memref.store %count, %out[%i] : memref<?xindex>
  }
  return
}
