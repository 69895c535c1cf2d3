// Rows padded with zeros at the end are loaded with the number of those that exist:
// no row past them is read.

// RUN: mla-opt %s -mla-tile-to-warpgroup -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @pad
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x192xf16>, %[[N:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index
// CHECK: scf.forall (%[[I:.*]], %{{.*}}) in
// CHECK: %[[VIEW:.*]] = memref.subview %[[X]][%[[I]], 0] [%[[COUNT]], 192] [1, 1] : memref<?x192xf16> to memref<?x192xf16, strided<[192, 1], offset: ?>>
// CHECK: wg.load %[[VIEW]] count %[[COUNT]] : memref<?x192xf16, strided<[192, 1], offset: ?>> -> <64x192xf16>
// CHECK-NOT: pad
func.func @pad(%x: memref<?x192xf16>, %n: index, %count: index, %high: index) {
  %t = bufferization.to_tensor %x restrict : memref<?x192xf16> to tensor<?x192xf16>
  %zero = arith.constant 0.0 : f16
  scf.forall (%i, %h) in (%n, 4) {
    %s = tensor.extract_slice %t[%i, 0] [%count, 192] [1, 1]
        : tensor<?x192xf16> to tensor<?x192xf16>
    %p = tensor.pad %s low[0, 0] high[%high, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %zero : f16
    } : tensor<?x192xf16> to tensor<64x192xf16>
  }
  return
}
