// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 5

func.func @columns(%rows: memref<?x128xbf16>, %count: index) {
  // expected-error @+1 {{'source': expected 192 columns as the tile, got 'memref<?x128xbf16>'}}
  %0 = wg.load %rows count %count : memref<?x128xbf16> -> !wg.tile<128x192xbf16>
  return
}

// -----

func.func @any_columns(%rows: memref<?x?xbf16>, %count: index) {
  // expected-error @+1 {{'source': expected 64 columns as the tile, got 'memref<?x?xbf16>'}}
  %0 = wg.load %rows count %count : memref<?x?xbf16> -> !wg.tile<128x64xbf16>
  return
}

// -----

func.func @element(%rows: memref<?x64xf32>, %count: index) {
  // expected-error @+1 {{'source': expected elements of 'bf16' as the tile, got 'memref<?x64xf32>'}}
  %0 = wg.load %rows count %count : memref<?x64xf32> -> !wg.tile<128x64xbf16>
  return
}

// -----

func.func @stride(%rows: memref<?x64xbf16, strided<[128, 2]>>, %count: index) {
  // expected-error @+1 {{'source': expected a last dimension of stride 1, got 'memref<?x64xbf16, strided<[128, 2]>>'}}
  %0 = wg.load %rows count %count : memref<?x64xbf16, strided<[128, 2]>> -> !wg.tile<128x64xbf16>
  return
}

// -----

func.func @rank(%rows: memref<?x1x64xbf16>, %count: index) {
  // expected-error @+1 {{must be 2D memref of floating-point values}}
  %0 = wg.load %rows count %count : memref<?x1x64xbf16> -> !wg.tile<128x64xbf16>
  return
}
