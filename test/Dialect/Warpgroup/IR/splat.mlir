// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @splat
// CHECK-SAME: %[[X:[a-z0-9]+]]: f32, %[[Y:[a-z0-9]+]]: bf16
// CHECK: %{{.*}} = wg.splat %[[X]] : f32 -> <128xf32, row>
// CHECK: %{{.*}} = wg.splat %[[Y]] : bf16 -> <64x64xbf16, accumulator>
func.func @splat(%x: f32, %y: bf16) {
  %0 = wg.splat %x : f32 -> !wg.fragment<128xf32, row>
  %1 = wg.splat %y : bf16 -> !wg.fragment<64x64xbf16, accumulator>
  return
}
