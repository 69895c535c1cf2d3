// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 5

func.func @rows(%tile: !wg.tile<128x192xbf16>) {
  // expected-error @+1 {{expected a tile of the source's rows and elements, '!wg.tile<128x192xbf16>', got '!wg.tile<64x64xbf16>'}}
  %0 = wg.columns %tile[0] : !wg.tile<128x192xbf16> -> !wg.tile<64x64xbf16>
  return
}

// -----

func.func @element(%tile: !wg.tile<128x192xbf16>) {
  // expected-error @+1 {{expected a tile of the source's rows and elements, '!wg.tile<128x192xbf16>', got '!wg.tile<128x64xf16>'}}
  %0 = wg.columns %tile[0] : !wg.tile<128x192xbf16> -> !wg.tile<128x64xf16>
  return
}

// -----

func.func @inside_a_panel(%tile: !wg.tile<128x192xbf16>) {
  // expected-error @+1 {{'first': expected the first column of a panel of 64, got 32}}
  %0 = wg.columns %tile[32] : !wg.tile<128x192xbf16> -> !wg.tile<128x64xbf16>
  return
}

// -----

func.func @past_the_end(%tile: !wg.tile<128x192xbf16>) {
  // expected-error @+1 {{expected columns up to 256 in the source, got '!wg.tile<128x192xbf16>'}}
  %0 = wg.columns %tile[128] : !wg.tile<128x192xbf16> -> !wg.tile<128x128xbf16>
  return
}

// -----

func.func @negative(%tile: !wg.tile<128x192xbf16>) {
  // expected-error @+1 {{attribute 'first' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %0 = wg.columns %tile[-64] : !wg.tile<128x192xbf16> -> !wg.tile<128x64xbf16>
  return
}
