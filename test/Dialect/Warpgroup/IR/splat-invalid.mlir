// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 1

func.func @element(%x: f32) {
  // expected-error @+1 {{expected a fragment of 'f32', got '!wg.fragment<128xbf16, row>'}}
  %0 = wg.splat %x : f32 -> !wg.fragment<128xbf16, row>
  return
}
