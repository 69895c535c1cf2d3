// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce
// CHECK-SAME: %[[S:[a-z0-9]+]]: !wg.fragment<128x64xf32, accumulator>, %[[M:[a-z0-9]+]]: !wg.fragment<128xf32, row>
// CHECK: %{{.*}} = wg.reduce %[[S]], %[[M]] : <128x64xf32, accumulator> -> <128xf32, row> {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
// CHECK-NEXT: %[[Z:.*]] = arith.maximumf %[[X]], %[[Y]] : f32
// CHECK-NEXT: wg.yield %[[Z]] : f32
// CHECK-NEXT: }
func.func @reduce(%s: !wg.fragment<128x64xf32, accumulator>, %m: !wg.fragment<128xf32, row>) {
  %0 = wg.reduce %s, %m : !wg.fragment<128x64xf32, accumulator> -> !wg.fragment<128xf32, row> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.maximumf %x, %y : f32
    wg.yield %z : f32
  }
  return
}
