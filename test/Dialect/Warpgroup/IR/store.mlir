// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @store
// CHECK-SAME: %[[O:[a-z0-9]+]]: !wg.fragment<128x64xbf16, accumulator>, %[[L:[a-z0-9]+]]: !wg.fragment<128xf32, row>, %[[OUT:[a-z0-9]+]]: memref<?x64xbf16, strided<[?, 1], offset: ?>>, %[[LSE:[a-z0-9]+]]: memref<?xf32, strided<[?]>>, %[[COUNT:[a-z0-9]+]]: index
// CHECK: wg.store %[[O]], %[[OUT]] count %[[COUNT]] : <128x64xbf16, accumulator>, memref<?x64xbf16, strided<[?, 1], offset: ?>>
// CHECK: wg.store %[[L]], %[[LSE]] count %[[COUNT]] : <128xf32, row>, memref<?xf32, strided<[?]>>
func.func @store(%o: !wg.fragment<128x64xbf16, accumulator>, %l: !wg.fragment<128xf32, row>,
    %out: memref<?x64xbf16, strided<[?, 1], offset: ?>>, %lse: memref<?xf32, strided<[?]>>,
    %count: index) {
  wg.store %o, %out count %count : !wg.fragment<128x64xbf16, accumulator>,
      memref<?x64xbf16, strided<[?, 1], offset: ?>>
  wg.store %l, %lse count %count : !wg.fragment<128xf32, row>, memref<?xf32, strided<[?]>>
  return
}
