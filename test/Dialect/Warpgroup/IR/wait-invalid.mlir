// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 1

func.func @other(%p: !wg.pending<!wg.fragment<64x128xf32, accumulator>>) {
  // expected-error @+1 {{expected '!wg.fragment<64x128xf32, accumulator>', got '!wg.fragment<64x64xf32, accumulator>'}}
  %0 = wg.wait %p : !wg.pending<!wg.fragment<64x128xf32, accumulator>>
      -> !wg.fragment<64x64xf32, accumulator>
  return
}
