// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// Some rows, or all of them.
// CHECK-LABEL: func.func @load
// CHECK-SAME: %[[ROWS:[a-z0-9]+]]: memref<?x192xbf16, strided<[?, 1], offset: ?>>, %[[ALL:[a-z0-9]+]]: memref<64x64xf16>, %[[COUNT:[a-z0-9]+]]: index
// CHECK: %{{.*}} = wg.load %[[ROWS]] count %[[COUNT]] : memref<?x192xbf16, strided<[?, 1], offset: ?>> -> <128x192xbf16>
// CHECK: %{{.*}} = wg.load %[[ALL]] : memref<64x64xf16> -> <64x64xf16>
func.func @load(%rows: memref<?x192xbf16, strided<[?, 1], offset: ?>>,
    %all: memref<64x64xf16>, %count: index) {
  %0 = wg.load %rows count %count
      : memref<?x192xbf16, strided<[?, 1], offset: ?>> -> !wg.tile<128x192xbf16>
  %1 = wg.load %all : memref<64x64xf16> -> !wg.tile<64x64xf16>
  return
}
