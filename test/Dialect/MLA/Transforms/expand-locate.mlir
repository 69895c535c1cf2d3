// Prefix sums of the tiles of each sequence, once, outside of the loop over items;
// in the loop a binary search for the last sequence that starts no later.

// RUN: mla-opt %s -mla-expand-locate -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @loop
// CHECK-SAME: %[[OFFSETS:[a-z0-9]+]]: tensor<?xi32>, %[[N:[a-z0-9]+]]: index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: %[[ENTRIES:.*]] = tensor.dim %[[OFFSETS]], %[[C0]]
// CHECK: %[[B:.*]] = arith.subi %[[ENTRIES]], %[[C1]]
// CHECK: %[[EMPTY:.*]] = tensor.empty(%[[ENTRIES]]) : tensor<?xindex>
// CHECK: %[[FIRST:.*]] = tensor.insert %[[C0]] into %[[EMPTY]][%[[C0]]]
// CHECK: %[[SUMS:.*]]:2 = scf.for %[[S:.*]] = %[[C0]] to %[[B]] step %[[C1]] iter_args(%[[T:.*]] = %[[FIRST]], %[[SUM:.*]] = %[[C0]])
// CHECK:   %[[ROWS:.*]] = arith.subi
// CHECK:   %[[TILES:.*]] = arith.ceildivsi %[[ROWS]], %[[C128]]
// CHECK:   %[[NEXT:.*]] = arith.addi %[[SUM]], %[[TILES]]
// CHECK:   tensor.insert %[[NEXT]] into %[[T]]
// CHECK: scf.forall (%[[ITEM:.*]], %{{.*}}) in (%[[N]], 2)
// CHECK:   %[[FOUND:.*]]:2 = scf.while (%[[LOW:.*]] = %[[C0]], %[[HIGH:.*]] = %{{.*}})
// CHECK:     scf.condition
// CHECK:     %[[MIDDLE:.*]] = arith.shrui %{{.*}}, %[[C1]]
// CHECK:     %[[PROBE:.*]] = tensor.extract %[[SUMS]]#0[%[[MIDDLE]]]
// CHECK:     %[[AFTER:.*]] = arith.cmpi slt, %[[ITEM]], %[[PROBE]]
// CHECK:   arith.minsi %{{.*}}, %[[C128]]
// CHECK:   %[[EXISTS:.*]] = arith.cmpi slt, %[[ITEM]]
// CHECK-COUNT-3: arith.select %[[EXISTS]], %{{.*}}, %[[C0]]
// CHECK-NOT: mla.locate
func.func @loop(%offsets: tensor<?xi32>, %n: index, %dest: tensor<?x3xindex>) -> tensor<?x3xindex> {
  %r = scf.forall (%item, %head) in (%n, 2) shared_outs(%d = %dest) -> (tensor<?x3xindex>) {
    %sequence, %first, %count = mla.locate %item in %offsets tile 128 : tensor<?xi32>
    %row = tensor.from_elements %sequence, %first, %count : tensor<1x3xindex>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %d[%item, 0] [1, 3] [1, 1]
          : tensor<1x3xindex> into tensor<?x3xindex>
    }
  }
  return %r : tensor<?x3xindex>
}

// -----

// Two locates with the same offsets and tile share the sums; another tile has
// its own.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-2: scf.for %
// CHECK-NOT: scf.for %
// CHECK: scf.forall
// CHECK-COUNT-3: scf.while
// CHECK-NOT: scf.while
func.func @shared(%offsets: tensor<?xui32>, %dest: tensor<8x3xindex>) -> tensor<8x3xindex> {
  %r = scf.forall (%item) in (7) shared_outs(%d = %dest) -> (tensor<8x3xindex>) {
    %c1 = arith.constant 1 : index
    %next = arith.addi %item, %c1 : index
    %a:3 = mla.locate %item in %offsets tile 16 : tensor<?xui32>
    %b:3 = mla.locate %next in %offsets tile 16 : tensor<?xui32>
    %c:3 = mla.locate %item in %offsets tile 8 : tensor<?xui32>
    %row = tensor.from_elements %a#0, %b#0, %c#0 : tensor<1x3xindex>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %d[%item, 0] [1, 3] [1, 1]
          : tensor<1x3xindex> into tensor<8x3xindex>
    }
  }
  return %r : tensor<8x3xindex>
}

// -----

// Outside of a loop, and offsets made inside of one: the sums stand at the op.
// CHECK-LABEL: func.func @alone
// CHECK: tensor.empty
// CHECK: scf.while
// CHECK-LABEL: func.func @inside
// CHECK: scf.forall
// CHECK: tensor.empty
// CHECK: scf.while
func.func @alone(%item: index, %offsets: tensor<?xi32>) -> index {
  %a:3 = mla.locate %item in %offsets tile 16 : tensor<?xi32>
  return %a#2 : index
}
func.func @inside(%all: tensor<4x?xi32>, %n: index, %dest: tensor<4x1xindex>) -> tensor<4x1xindex> {
  %r = scf.forall (%item) in (4) shared_outs(%d = %dest) -> (tensor<4x1xindex>) {
    %offsets = tensor.extract_slice %all[%item, 0] [1, %n] [1, 1]
        : tensor<4x?xi32> to tensor<?xi32>
    %a:3 = mla.locate %item in %offsets tile 16 : tensor<?xi32>
    %row = tensor.from_elements %a#0 : tensor<1x1xindex>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %d[%item, 0] [1, 1] [1, 1]
          : tensor<1x1xindex> into tensor<4x1xindex>
    }
  }
  return %r : tensor<4x1xindex>
}
