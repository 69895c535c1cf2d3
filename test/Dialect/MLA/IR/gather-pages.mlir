// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @tensor
// CHECK-SAME: %[[CACHE:[a-z0-9]+]]: tensor<?x1x?x16x1x40xbf16>, %[[TABLE:[a-z0-9]+]]: tensor<?x?xi32>, %[[SEQUENCE:[a-z0-9]+]]: index, %[[LAYER:[a-z0-9]+]]: index, %[[POSITION:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index, %[[DEST:[a-z0-9]+]]: tensor<32x8xbf16>
// CHECK: %{{.*}} = mla.gather_pages %[[CACHE]][layer %[[LAYER]], column 32] through %[[TABLE]][%[[SEQUENCE]]] rows(%[[POSITION]], %[[COUNT]]) outs(%[[DEST]]) : tensor<?x1x?x16x1x40xbf16>, tensor<?x?xi32>, tensor<32x8xbf16> -> tensor<32x8xbf16>
func.func @tensor(%cache: tensor<?x1x?x16x1x40xbf16>, %table: tensor<?x?xi32>,
    %sequence: index, %layer: index, %position: index, %count: index,
    %dest: tensor<32x8xbf16>) -> tensor<32x8xbf16> {
  %r = mla.gather_pages %cache[layer %layer, column 32] through %table[%sequence]
      rows(%position, %count) outs(%dest)
      : tensor<?x1x?x16x1x40xbf16>, tensor<?x?xi32>, tensor<32x8xbf16> -> tensor<32x8xbf16>
  return %r : tensor<32x8xbf16>
}

// No result on memrefs; any number of rows; elements may be extended.
// CHECK-LABEL: func.func @memref
// CHECK: {{^ *}}mla.gather_pages %{{.*}}[layer %{{.*}}, column 0] through %{{.*}}[%{{.*}}] rows(%{{.*}}, %{{.*}}) outs(%{{.*}}) : memref<?x1x?x?x1x40xf16>, memref<?x?xui32>, memref<?x40xf32, strided<[48, 1]>>{{$}}
func.func @memref(%cache: memref<?x1x?x?x1x40xf16>, %table: memref<?x?xui32>,
    %i: index, %dest: memref<?x40xf32, strided<[48, 1]>>) {
  mla.gather_pages %cache[layer %i, column 0] through %table[%i] rows(%i, %i) outs(%dest)
      : memref<?x1x?x?x1x40xf16>, memref<?x?xui32>, memref<?x40xf32, strided<[48, 1]>>
  return
}
