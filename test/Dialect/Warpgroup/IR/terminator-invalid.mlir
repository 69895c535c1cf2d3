// A body ends in wg.yield.

// RUN: mla-opt %s -split-input-file -verify-diagnostics

func.func @map(%m: !wg.fragment<128xf32, row>) {
  // expected-error @+1 {{wg.yield}}
  %0 = wg.map %m : !wg.fragment<128xf32, row> -> !wg.fragment<128xf32, row> {
  ^bb0(%x: f32, %row: index, %column: index):
    llvm.unreachable
  }
  return
}

// -----

func.func @reduce(%s: !wg.fragment<128x64xf32, accumulator>, %m: !wg.fragment<128xf32, row>) {
  // expected-error @+1 {{wg.yield}}
  %0 = wg.reduce %s, %m : !wg.fragment<128x64xf32, accumulator> -> !wg.fragment<128xf32, row> {
  ^bb0(%x: f32, %y: f32):
    llvm.unreachable
  }
  return
}
