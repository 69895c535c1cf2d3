// A query tile by its number, from offsets in memory.

// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @locate
// CHECK-SAME: %[[OFFSETS:[a-z0-9]+]]: memref<?xi32, strided<[1], offset: ?>>, %[[N:[a-z0-9]+]]: index
// CHECK: %sequence, %first, %count = wg.locate %[[N]] in %[[OFFSETS]] tile 128 : memref<?xi32, strided<[1], offset: ?>>
func.func @locate(%offsets: memref<?xi32, strided<[1], offset: ?>>, %number: index) {
  %sequence, %first, %count = wg.locate %number in %offsets tile 128
      : memref<?xi32, strided<[1], offset: ?>>
  return
}
