// The sequence of a work item is found by a scan over the offsets, which only the
// device knows. A sequence's last tile comes first.

// RUN: mla-opt %s -mla-tile-to-warpgroup -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @locate
// CHECK-SAME: %[[OFFSETS:[a-z0-9]+]]: memref<?xui32>, %[[N:[a-z0-9]+]]: index, %[[OUT:[a-z0-9]+]]: memref<?xindex>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: scf.forall (%[[ITEM:.*]], %[[HEAD:.*]]) in (%[[N]], 4)
// CHECK: %[[ENTRIES:.*]] = memref.dim %[[OFFSETS]], %[[C0]]
// CHECK: %[[SEQUENCES:.*]] = arith.subi %[[ENTRIES]], %[[C1]]
// CHECK: %[[FOUND:.*]]:4 = scf.for %[[B:.*]] = %[[C0]] to %[[SEQUENCES]] step %[[C1]] iter_args(%[[LEFT:.*]] = %[[ITEM]], %[[SEQUENCE:.*]] = %[[C0]], %[[FIRST:.*]] = %[[C0]], %[[COUNT:.*]] = %[[C0]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[B]], %[[C1]]
// CHECK: %[[END:.*]] = memref.load %[[OFFSETS]][%[[NEXT]]]
// CHECK: %[[BEGIN:.*]] = memref.load %[[OFFSETS]][%[[B]]]
// CHECK: %[[ROWS:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: %[[TILES:.*]] = arith.ceildivsi %[[ROWS]], %[[C128]]
// CHECK: %[[GE:.*]] = arith.cmpi sge, %[[LEFT]], %[[C0]]
// CHECK: %[[LT:.*]] = arith.cmpi slt, %[[LEFT]], %[[TILES]]
// CHECK: %[[HERE:.*]] = arith.andi %[[GE]], %[[LT]]
// CHECK: %[[LAST:.*]] = arith.subi %[[TILES]], %[[C1]]
// CHECK: %[[NUMBER:.*]] = arith.subi %[[LAST]], %[[LEFT]]
// CHECK: %[[ROW:.*]] = arith.muli %[[NUMBER]], %[[C128]]
// CHECK: %[[REST:.*]] = arith.subi %[[ROWS]], %[[ROW]]
// CHECK: %[[MANY:.*]] = arith.minsi %[[REST]], %[[C128]]
// CHECK: %[[LESS:.*]] = arith.subi %[[LEFT]], %[[TILES]]
// CHECK: %[[S:.*]] = arith.select %[[HERE]], %[[B]], %[[SEQUENCE]]
// CHECK: %[[F:.*]] = arith.select %[[HERE]], %[[ROW]], %[[FIRST]]
// CHECK: %[[C:.*]] = arith.select %[[HERE]], %[[MANY]], %[[COUNT]]
// CHECK: scf.yield %[[LESS]], %[[S]], %[[F]], %[[C]]
// CHECK: memref.store %[[FOUND]]#1, %[[OUT]][%[[FOUND]]#2]
// CHECK: memref.store %[[FOUND]]#3, %[[OUT]][%[[ITEM]]]
func.func @locate(%offsets: memref<?xui32>, %n: index, %out: memref<?xindex>) {
  %t = bufferization.to_tensor %offsets restrict : memref<?xui32> to tensor<?xui32>
  scf.forall (%i, %h) in (%n, 4) {
    %sequence, %first, %count = mla.locate %i in %t tile 128 : tensor<?xui32>
    memref.store %sequence, %out[%first] : memref<?xindex>
    memref.store %count, %out[%i] : memref<?xindex>
  }
  return
}
