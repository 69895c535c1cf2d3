// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 6

func.func @element(%cache: memref<?x1x?x64x1x576xf32>, %table: memref<?x?xi32>, %i: index) {
  // expected-error @+1 {{'cache': expected elements of 'bf16' as the tile, got 'memref<?x1x?x64x1x576xf32>'}}
  %0 = wg.load_pages %cache[layer %i, column 512] through %table[%i] rows(%i, %i)
      : memref<?x1x?x64x1x576xf32>, memref<?x?xi32> -> !wg.tile<128x64xbf16>
  return
}

// -----

func.func @columns(%cache: memref<?x1x?x64x1x576xbf16>, %table: memref<?x?xi32>, %i: index) {
  // expected-error @+1 {{'cache': expected rows of at least 592 columns, got 'memref<?x1x?x64x1x576xbf16>'}}
  %0 = wg.load_pages %cache[layer %i, column 528] through %table[%i] rows(%i, %i)
      : memref<?x1x?x64x1x576xbf16>, memref<?x?xi32> -> !wg.tile<128x64xbf16>
  return
}

// -----

func.func @any_columns(%cache: memref<?x1x?x64x1x?xbf16>, %table: memref<?x?xi32>, %i: index) {
  // expected-error @+1 {{'cache': expected rows of at least 576 columns, got 'memref<?x1x?x64x1x?xbf16>'}}
  %0 = wg.load_pages %cache[layer %i, column 512] through %table[%i] rows(%i, %i)
      : memref<?x1x?x64x1x?xbf16>, memref<?x?xi32> -> !wg.tile<128x64xbf16>
  return
}

// -----

func.func @negative_column(%cache: memref<?x1x?x64x1x576xbf16>, %table: memref<?x?xi32>, %i: index) {
  // expected-error @+1 {{attribute 'column' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %0 = wg.load_pages %cache[layer %i, column -64] through %table[%i] rows(%i, %i)
      : memref<?x1x?x64x1x576xbf16>, memref<?x?xi32> -> !wg.tile<128x64xbf16>
  return
}

// -----

func.func @cache_rank(%cache: memref<?x?x64x576xbf16>, %table: memref<?x?xi32>, %i: index) {
  // expected-error @+1 {{must be 6D memref of floating-point values}}
  %0 = wg.load_pages %cache[layer %i, column 512] through %table[%i] rows(%i, %i)
      : memref<?x?x64x576xbf16>, memref<?x?xi32> -> !wg.tile<128x64xbf16>
  return
}

// -----

func.func @table(%cache: memref<?x1x?x64x1x576xbf16>, %table: memref<?x?xi64>, %i: index) {
  // expected-error @+1 {{must be 2D memref of 32-bit signless integer or 32-bit unsigned integer values}}
  %0 = wg.load_pages %cache[layer %i, column 512] through %table[%i] rows(%i, %i)
      : memref<?x1x?x64x1x576xbf16>, memref<?x?xi64> -> !wg.tile<128x64xbf16>
  return
}
