// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 1

func.func @parent(%x: f32) {
  // expected-error @+1 {{expects parent op to be one of 'wg.map, wg.reduce, wg.combine, wg.order'}}
  wg.yield %x : f32
}
