// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 2

// expected-note @+1 {{prior use here}}
func.func @address(%address: i64) {
  // expected-error @+1 {{use of value '%address' expects different type than prior uses: 'i32' vs 'i64'}}
  %0 = wg.tile_at %address : !wg.tile<128x64xbf16>
  return
}

// -----

func.func @type(%address: i32) {
  // expected-error @+1 {{result #0 must be }}
  %0 = wg.tile_at %address : !wg.fragment<64xf32, row>
  return
}
