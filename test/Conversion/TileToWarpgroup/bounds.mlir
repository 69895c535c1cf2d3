// A loop over work items that does not start at 0 or step by 1 is refused.

// RUN: not mla-opt %s -mla-tile-to-warpgroup -mla-warpgroup-outline 2>&1 | FileCheck %s

// CHECK: error: 'scf.forall' op has no home on a GPU: expected dimensions from 0 by 1
func.func @bounds(%n: index, %out: memref<?xindex>) {
  scf.forall (%i, %h) = (2, 0) to (%n, 4) step (2, 1) {
    memref.store %h, %out[%i] : memref<?xindex>
  }
  return
}
