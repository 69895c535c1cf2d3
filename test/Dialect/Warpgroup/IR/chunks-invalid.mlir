// Copies go in chunks of 16 bytes, stores in pairs of neighbours: what cannot be cut so
// is refused.

// RUN: mla-opt %s -split-input-file -verify-diagnostics

func.func @store(%s: !wg.fragment<64x64xf32, accumulator>,
    %dest: memref<64x64xf32, strided<[128, 2]>>, %count: index) {
  // expected-error @+1 {{'dest': expected a last dimension of stride 1}}
  wg.store %s, %dest count %count
      : !wg.fragment<64x64xf32, accumulator>, memref<64x64xf32, strided<[128, 2]>>
  return
}

// -----

func.func @pages(%cache: memref<?x1x?x64x1x576xbf16, strided<[?, ?, ?, ?, ?, 2]>>,
    %table: memref<?x?xi32>, %i: index) {
  // expected-error @+1 {{'cache': expected a last dimension of stride 1}}
  %0 = wg.load_pages %cache[layer %i, column 512] through %table[%i] rows(%i, %i)
      : memref<?x1x?x64x1x576xbf16, strided<[?, ?, ?, ?, ?, 2]>>, memref<?x?xi32>
      -> !wg.tile<64x64xbf16>
  return
}

// -----

func.func @column(%cache: memref<?x1x?x64x1x584xbf16>, %table: memref<?x?xi32>, %i: index) {
  // expected-error @+1 {{'column': expected a multiple of 8}}
  %0 = wg.load_pages %cache[layer %i, column 516] through %table[%i] rows(%i, %i)
      : memref<?x1x?x64x1x584xbf16>, memref<?x?xi32> -> !wg.tile<64x64xbf16>
  return
}

// -----

func.func @rows(%source: memref<24x64xbf16>) {
  // expected-error @+1 {{'source': expected 64 rows}}
  %0 = wg.load %source : memref<24x64xbf16> -> !wg.tile<64x64xbf16>
  return
}
