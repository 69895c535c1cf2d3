// What the copy engine is told of a tensor.

// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func private @types(!wg.tensor_map<64xf16>, !wg.tensor_map<1x1x64x64xbf16>, !wg.tensor_map<256x1x1x1x8xbf16>)
func.func private @types(!wg.tensor_map<64xf16>, !wg.tensor_map<1x1x64x64xbf16>,
    !wg.tensor_map<256x1x1x1x8xbf16>)

// CHECK-LABEL: func.func @tensor_map
// CHECK-SAME: %[[K:[a-z0-9]+]]: memref<?x16x128xbf16, strided<[?, ?, 1], offset: ?>>
// CHECK: %{{.*}} = wg.tensor_map %[[K]] operand "k" : memref<?x16x128xbf16, strided<[?, ?, 1], offset: ?>> -> <128x1x64xbf16>
func.func @tensor_map(%k: memref<?x16x128xbf16, strided<[?, ?, 1], offset: ?>>) {
  %0 = wg.tensor_map %k operand "k"
      : memref<?x16x128xbf16, strided<[?, ?, 1], offset: ?>> -> !wg.tensor_map<128x1x64xbf16>
  return
}
