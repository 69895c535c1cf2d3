// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @load_pages
// CHECK-SAME: %[[CACHE:[a-z0-9]+]]: memref<?x1x?x64x1x576xbf16>, %[[TABLE:[a-z0-9]+]]: memref<?x?xi32>, %[[LAYER:[a-z0-9]+]]: index, %[[SEQUENCE:[a-z0-9]+]]: index, %[[POSITION:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index
// CHECK: %{{.*}} = wg.load_pages %[[CACHE]][layer %[[LAYER]], column 512] through %[[TABLE]][%[[SEQUENCE]]] rows(%[[POSITION]], %[[COUNT]]) : memref<?x1x?x64x1x576xbf16>, memref<?x?xi32> -> <128x64xbf16>
func.func @load_pages(%cache: memref<?x1x?x64x1x576xbf16>, %table: memref<?x?xi32>,
    %layer: index, %sequence: index, %position: index, %count: index) {
  %0 = wg.load_pages %cache[layer %layer, column 512] through %table[%sequence]
      rows(%position, %count)
      : memref<?x1x?x64x1x576xbf16>, memref<?x?xi32> -> !wg.tile<128x64xbf16>
  return
}

// Any page size, unsigned pages, strides.
// CHECK-LABEL: func.func @other_types
// CHECK: wg.load_pages %{{.*}}[layer %{{.*}}, column 0] through %{{.*}}[%{{.*}}] rows(%{{.*}}, %{{.*}}) : memref<?x1x?x?x1x48xf16, strided<[?, ?, ?, ?, ?, 1], offset: ?>>, memref<?x?xui32> -> <64x48xf16>
func.func @other_types(
    %cache: memref<?x1x?x?x1x48xf16, strided<[?, ?, ?, ?, ?, 1], offset: ?>>,
    %table: memref<?x?xui32>, %i: index) {
  %0 = wg.load_pages %cache[layer %i, column 0] through %table[%i] rows(%i, %i)
      : memref<?x1x?x?x1x48xf16, strided<[?, ?, ?, ?, ?, 1], offset: ?>>, memref<?x?xui32>
      -> !wg.tile<64x48xf16>
  return
}
