// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @yield
// CHECK: wg.yield %{{.*}} : f32
func.func @yield(%m: !wg.fragment<128xf32, row>) {
  %0 = wg.map %m : !wg.fragment<128xf32, row> -> !wg.fragment<128xf32, row> {
  ^bb0(%x: f32, %row: index, %column: index):
    wg.yield %x : f32
  }
  return
}
