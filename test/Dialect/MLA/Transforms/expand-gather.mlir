// Rows below the count go through the table, the rest is filled; no ops but
// upstream's are left.

// RUN: mla-opt %s -mla-expand-gather -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @gather
// CHECK-SAME: %[[CACHE:[a-z0-9]+]]: tensor<?x1x?x16x1x40xbf16>, %[[TABLE:[a-z0-9]+]]: tensor<?x?xi32>, %[[SEQUENCE:[a-z0-9]+]]: index, %[[LAYER:[a-z0-9]+]]: index, %[[POSITION:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index, %[[DEST:[a-z0-9]+]]: tensor<32x8xbf16>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : bf16
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK: %[[READ:.*]] = scf.for %[[R:.*]] = %[[C0]] to %[[COUNT]] step %[[C1]] iter_args(%[[D:.*]] = %[[DEST]])
// CHECK:   %[[TOKEN:.*]] = arith.addi %[[POSITION]], %[[R]]
// CHECK:   %[[COLUMN:.*]] = arith.divui %[[TOKEN]], %[[C16]]
// CHECK:   %[[IN_PAGE:.*]] = arith.remui %[[TOKEN]], %[[C16]]
// CHECK:   %[[ENTRY:.*]] = tensor.extract %[[TABLE]][%[[SEQUENCE]], %[[COLUMN]]]
// CHECK:   %[[PAGE:.*]] = arith.index_cast %[[ENTRY]] : i32 to index
// CHECK:   %[[ROW:.*]] = tensor.extract_slice %[[CACHE]][%[[PAGE]], 0, %[[LAYER]], %[[IN_PAGE]], 0, 32] [1, 1, 1, 1, 1, 8] [1, 1, 1, 1, 1, 1]
// CHECK:   linalg.copy ins(%[[ROW]] : tensor<1x8xbf16>)
// CHECK:   tensor.insert_slice %{{.*}} into %[[D]][%[[R]], 0] [1, 8] [1, 1]
// CHECK: %[[DONE:.*]] = scf.for %[[R2:.*]] = %[[COUNT]] to %[[C32]] step %[[C1]] iter_args(%[[D2:.*]] = %[[READ]])
// CHECK-NOT: tensor.extract %
// CHECK:   linalg.fill ins(%[[ZERO]] : bf16)
// CHECK:   tensor.insert_slice %{{.*}} into %[[D2]][%[[R2]], 0] [1, 8] [1, 1]
// CHECK: return %[[DONE]]
// CHECK-NOT: mla.
func.func @gather(%cache: tensor<?x1x?x16x1x40xbf16>, %table: tensor<?x?xi32>,
    %sequence: index, %layer: index, %position: index, %count: index,
    %dest: tensor<32x8xbf16>) -> tensor<32x8xbf16> {
  %r = mla.gather_pages %cache[layer %layer, column 32] through %table[%sequence]
      rows(%position, %count) outs(%dest)
      : tensor<?x1x?x16x1x40xbf16>, tensor<?x?xi32>, tensor<32x8xbf16> -> tensor<32x8xbf16>
  return %r : tensor<32x8xbf16>
}

// The page size and the number of rows are read where they are not static; page
// numbers without a sign stay so; the copy extends.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[CACHE:[a-z0-9]+]]: tensor<?x1x?x?x1x40xbf16>
// CHECK-SAME: %[[DEST:[a-z0-9]+]]: tensor<?x40xf32>
// CHECK: %[[SIZE:.*]] = tensor.dim %[[CACHE]], %c3
// CHECK: arith.divui %{{.*}}, %[[SIZE]]
// CHECK: arith.index_castui %{{.*}} : i32 to index
// CHECK: linalg.copy ins(%{{.*}} : tensor<1x40xbf16>) outs(%{{.*}} : tensor<1x40xf32>)
// CHECK: %[[ROWS:.*]] = tensor.dim %[[DEST]], %c0
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[ROWS]]
func.func @dynamic(%cache: tensor<?x1x?x?x1x40xbf16>, %table: tensor<?x?xui32>,
    %i: index, %dest: tensor<?x40xf32>) -> tensor<?x40xf32> {
  %r = mla.gather_pages %cache[layer %i, column 0] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x?x1x40xbf16>, tensor<?x?xui32>, tensor<?x40xf32> -> tensor<?x40xf32>
  return %r : tensor<?x40xf32>
}
