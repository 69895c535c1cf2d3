// A sum in parts, a part in each thread of a row: made by wg.reduce, scaled by wg.map,
// put together once.

// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @combine
// CHECK-SAME: %[[S:[a-z0-9]+]]: !wg.fragment<128x64xf32, accumulator>, %[[C:[a-z0-9]+]]: !wg.fragment<128xf32, row>, %[[ZERO:[a-z0-9]+]]: f32
// CHECK: %[[START:.*]] = wg.splat %[[ZERO]] : f32 -> <128xf32, partial>
// CHECK: %[[SCALED:.*]] = wg.map %[[START]], %[[C]] : !wg.fragment<128xf32, partial>, !wg.fragment<128xf32, row> -> <128xf32, partial> {
// CHECK: %[[SUM:.*]] = wg.reduce %[[S]], %[[SCALED]] : <128x64xf32, accumulator> -> <128xf32, partial> {
// CHECK: %{{.*}} = wg.combine %[[SUM]] : <128xf32, partial> -> <128xf32, row> {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
// CHECK-NEXT: %[[Z:.*]] = arith.addf %[[X]], %[[Y]] : f32
// CHECK-NEXT: wg.yield %[[Z]] : f32
// CHECK-NEXT: }
func.func @combine(%s: !wg.fragment<128x64xf32, accumulator>, %c: !wg.fragment<128xf32, row>,
    %zero: f32) {
  %start = wg.splat %zero : f32 -> !wg.fragment<128xf32, partial>
  %scaled = wg.map %start, %c : !wg.fragment<128xf32, partial>, !wg.fragment<128xf32, row>
      -> !wg.fragment<128xf32, partial> {
  ^bb0(%x: f32, %y: f32, %row: index, %column: index):
    %z = arith.mulf %x, %y : f32
    wg.yield %z : f32
  }
  %sum = wg.reduce %s, %scaled : !wg.fragment<128x64xf32, accumulator> -> !wg.fragment<128xf32, partial> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    wg.yield %z : f32
  }
  %all = wg.combine %sum : !wg.fragment<128xf32, partial> -> !wg.fragment<128xf32, row> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    wg.yield %z : f32
  }
  return
}
