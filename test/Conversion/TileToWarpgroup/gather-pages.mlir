// A gather goes through the same pages into shared memory; its destination was only
// a shape.

// RUN: mla-opt %s -mla-tile-to-warpgroup -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @gather
// CHECK-SAME: %[[CACHE:[a-z0-9]+]]: memref<?x1x?x64x1x576xbf16>, %[[TABLE:[a-z0-9]+]]: memref<?x?xui32>, %[[N:[a-z0-9]+]]: index, %[[LAYER:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index
// CHECK: scf.forall (%[[I:.*]], %[[P:.*]]) in
// CHECK: wg.load_pages %[[CACHE]][layer %[[LAYER]], column 512] through %[[TABLE]][%[[I]]] rows(%[[P]], %[[COUNT]]) : memref<?x1x?x64x1x576xbf16>, memref<?x?xui32> -> <128x64xbf16>
// CHECK-NOT: tensor
func.func @gather(%cache: memref<?x1x?x64x1x576xbf16>, %table: memref<?x?xui32>, %n: index,
    %layer: index, %count: index) {
  %c = bufferization.to_tensor %cache restrict
      : memref<?x1x?x64x1x576xbf16> to tensor<?x1x?x64x1x576xbf16>
  %t = bufferization.to_tensor %table restrict : memref<?x?xui32> to tensor<?x?xui32>
  %empty = tensor.empty() : tensor<128x64xbf16>
  scf.forall (%i, %p) in (%n, 4) {
    %r = mla.gather_pages %c[layer %layer, column 512] through %t[%i] rows(%p, %count)
        outs(%empty)
        : tensor<?x1x?x64x1x576xbf16>, tensor<?x?xui32>, tensor<128x64xbf16> -> tensor<128x64xbf16>
  }
  return
}
