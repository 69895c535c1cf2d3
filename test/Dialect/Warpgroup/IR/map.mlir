// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// Elements with the value of their row, and where they are; the result's elements
// may be of another type.
// CHECK-LABEL: func.func @map
// CHECK-SAME: %[[S:[a-z0-9]+]]: !wg.fragment<128x64xf32, accumulator>, %[[M:[a-z0-9]+]]: !wg.fragment<128xf32, row>
// CHECK: %{{.*}} = wg.map %[[S]], %[[M]] : !wg.fragment<128x64xf32, accumulator>, !wg.fragment<128xf32, row> -> <128x64xbf16, accumulator> {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT: %[[Z:.*]] = arith.subf %[[X]], %[[Y]] : f32
// CHECK-NEXT: %[[T:.*]] = arith.truncf %[[Z]] : f32 to bf16
// CHECK-NEXT: wg.yield %[[T]] : bf16
// CHECK-NEXT: }
func.func @map(%s: !wg.fragment<128x64xf32, accumulator>, %m: !wg.fragment<128xf32, row>) {
  %0 = wg.map %s, %m : !wg.fragment<128x64xf32, accumulator>, !wg.fragment<128xf32, row>
      -> !wg.fragment<128x64xbf16, accumulator> {
  ^bb0(%x: f32, %y: f32, %row: index, %column: index):
    %z = arith.subf %x, %y : f32
    %t = arith.truncf %z : f32 to bf16
    wg.yield %t : bf16
  }
  return
}

// CHECK-LABEL: func.func @rows
// CHECK: wg.map %{{.*}} : !wg.fragment<128xf32, row> -> <128xf32, row> {
func.func @rows(%m: !wg.fragment<128xf32, row>) {
  %0 = wg.map %m : !wg.fragment<128xf32, row> -> !wg.fragment<128xf32, row> {
  ^bb0(%x: f32, %row: index, %column: index):
    %y = arith.negf %x : f32
    wg.yield %y : f32
  }
  return
}
