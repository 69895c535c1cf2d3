// Rows of pages into a tile, with a map of runs that no page boundary cuts or without.

// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

!cache = memref<?x1x?x64x1x576xbf16>

// CHECK-LABEL: func.func @copy_pages
// CHECK-SAME: %[[CACHE:[a-z0-9]+]]: memref<?x1x?x64x1x576xbf16>, %[[MAP:[a-z0-9]+]]: !wg.tensor_map<1x1x64x64xbf16>, %[[TABLE:[a-z0-9]+]]: memref<?x?xui32>, %[[RING:[a-z0-9]+]]: !wg.ring<2 x !wg.tile<128x64xbf16>>, %[[USE:[a-z0-9]+]]: i32, %[[L:[a-z0-9]+]]: index, %[[S:[a-z0-9]+]]: index, %[[P:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
// CHECK: wg.copy_pages %[[CACHE]] by %[[MAP]][layer %[[L]], column 512] through %[[TABLE]][%[[S]]] rows(%[[P]], %[[N]]) to %[[RING]][%[[USE]]] element 0 : memref<?x1x?x64x1x576xbf16> by !wg.tensor_map<1x1x64x64xbf16>, memref<?x?xui32>, <2 x !wg.tile<128x64xbf16>>
// CHECK: wg.copy_pages %[[CACHE]][layer %[[L]], column 512] through %[[TABLE]][%[[S]]] rows(%[[P]], %[[N]]) to %[[RING]][%[[USE]]] element 0 : memref<?x1x?x64x1x576xbf16>, memref<?x?xui32>, <2 x !wg.tile<128x64xbf16>>
func.func @copy_pages(%cache: !cache, %map: !wg.tensor_map<1x1x64x64xbf16>,
    %table: memref<?x?xui32>, %ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32,
    %layer: index, %sequence: index, %position: index, %count: index) {
  wg.copy_pages %cache by %map[layer %layer, column 512] through %table[%sequence]
      rows(%position, %count) to %ring[%use] element 0
      : !cache by !wg.tensor_map<1x1x64x64xbf16>, memref<?x?xui32>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  wg.copy_pages %cache[layer %layer, column 512] through %table[%sequence]
      rows(%position, %count) to %ring[%use] element 0
      : !cache, memref<?x?xui32>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  return
}

// A box is a whole panel of columns, also where the tile's last panel is not.
// CHECK-LABEL: func.func @partial
// CHECK: wg.copy_pages {{.*}}, column 480] {{.*}} by !wg.tensor_map<1x1x64x64xbf16>, memref<?x?xi32>, <2 x !wg.tile<128x80xbf16>>
func.func @partial(%cache: !cache, %map: !wg.tensor_map<1x1x64x64xbf16>,
    %table: memref<?x?xi32>, %ring: !wg.ring<2 x !wg.tile<128x80xbf16>>, %use: i32, %i: index) {
  wg.copy_pages %cache by %map[layer %i, column 480] through %table[%i] rows(%i, %i)
      to %ring[%use] element 0
      : !cache by !wg.tensor_map<1x1x64x64xbf16>, memref<?x?xi32>, !wg.ring<2 x !wg.tile<128x80xbf16>>
  return
}
