// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @wait
// CHECK-SAME: %[[P:[a-z0-9]+]]: !wg.pending<<64x128xf32, accumulator>>
// CHECK: %{{.*}} = wg.wait %[[P]] : <<64x128xf32, accumulator>> -> <64x128xf32, accumulator>
func.func @wait(%p: !wg.pending<!wg.fragment<64x128xf32, accumulator>>) {
  %0 = wg.wait %p : !wg.pending<!wg.fragment<64x128xf32, accumulator>>
      -> !wg.fragment<64x128xf32, accumulator>
  return
}
