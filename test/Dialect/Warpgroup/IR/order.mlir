// Which item is next: an order of sequences by cost, its items, the counter of a launch.

// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @order
// CHECK-SAME: %[[OFFSETS:[a-z0-9]+]]: memref<?xui32>, %[[HEADS:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
// CHECK: %[[ORDER:.*]] = wg.order %[[OFFSETS]] tile 128 heads %[[HEADS]] for 512 : memref<?xui32> {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %[[FIRST:.*]]: index, %{{.*}}: index):
// CHECK-NEXT: wg.yield %[[FIRST]] : index
// CHECK-NEXT: }
// CHECK: %{{.*}} = wg.item_count %[[ORDER]] heads %[[HEADS]]
// CHECK: %sequence, %first, %count, %head = wg.item %[[ORDER]][%[[N]]] heads %[[HEADS]] in %[[OFFSETS]] tile 128 : memref<?xui32>
// CHECK: %{{.*}} = wg.claim
// CHECK: wg.retire
func.func @order(%offsets: memref<?xui32>, %heads: index, %number: index) {
  %order = wg.order %offsets tile 128 heads %heads for 512 : memref<?xui32> {
  ^bb0(%sequence: index, %first: index, %count: index):
    wg.yield %first : index
  }
  %items = wg.item_count %order heads %heads
  %sequence, %first, %count, %head = wg.item %order[%number] heads %heads in %offsets tile 128
      : memref<?xui32>
  %next = wg.claim
  wg.retire
  return
}

// CHECK-LABEL: func.func private @type(!wg.order)
func.func private @type(!wg.order)

// An item is a function of its number; a claim is not, and stays.
// RUN: mla-opt %s -canonicalize -cse | FileCheck %s --check-prefix=KEPT
// KEPT-LABEL: func.func @claims
// KEPT: wg.claim
// KEPT: wg.claim
// KEPT: wg.retire
func.func @claims() {
  %0 = wg.claim
  %1 = wg.claim
  wg.retire
  return
}
