// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 10

func.func @element(%cache: memref<?x1x?x64x1x576xf16>, %table: memref<?x?xi32>, %ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32, %i: index) {
  // expected-error @+1 {{'cache': expected elements of 'bf16' as the tile, got 'memref<?x1x?x64x1x576xf16>'}}
  wg.copy_pages %cache[layer %i, column 512] through %table[%i] rows(%i, %i) to %ring[%use] element 0
      : memref<?x1x?x64x1x576xf16>, memref<?x?xi32>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  return
}

// -----

func.func @stride(%cache: memref<?x1x?x64x1x576xbf16, strided<[?, ?, ?, ?, ?, 2]>>, %table: memref<?x?xi32>, %ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32, %i: index) {
  // expected-error @+1 {{'cache': expected a last dimension of stride 1, got}}
  wg.copy_pages %cache[layer %i, column 512] through %table[%i] rows(%i, %i) to %ring[%use] element 0
      : memref<?x1x?x64x1x576xbf16, strided<[?, ?, ?, ?, ?, 2]>>, memref<?x?xi32>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  return
}

// -----

func.func @column(%cache: memref<?x1x?x64x1x576xbf16>, %table: memref<?x?xi32>, %ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32, %i: index) {
  // expected-error @+1 {{'column': expected a multiple of 8, got 508}}
  wg.copy_pages %cache[layer %i, column 508] through %table[%i] rows(%i, %i) to %ring[%use] element 0
      : memref<?x1x?x64x1x576xbf16>, memref<?x?xi32>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  return
}

// -----

func.func @columns(%cache: memref<?x1x?x64x1x576xbf16>, %table: memref<?x?xi32>, %ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32, %i: index) {
  // expected-error @+1 {{'cache': expected rows of at least 584 columns, got 'memref<?x1x?x64x1x576xbf16>'}}
  wg.copy_pages %cache[layer %i, column 520] through %table[%i] rows(%i, %i) to %ring[%use] element 0
      : memref<?x1x?x64x1x576xbf16>, memref<?x?xi32>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  return
}

// -----

func.func @scalars(%cache: memref<?x1x?x64x1x576xbf16>, %table: memref<?x?xi32>, %ring: !wg.ring<2 x i32>, %use: i32, %i: index) {
  // expected-error @+1 {{'element': expected the number of a tile of '!wg.ring<2 x i32>', got 0}}
  wg.copy_pages %cache[layer %i, column 512] through %table[%i] rows(%i, %i) to %ring[%use] element 0
      : memref<?x1x?x64x1x576xbf16>, memref<?x?xi32>, !wg.ring<2 x i32>
  return
}

// -----

// Runs start where the swizzle's pattern of 8 rows starts.
func.func @map_rows(%cache: memref<?x1x?x4x1x576xbf16>, %map: !wg.tensor_map<1x1x4x64xbf16>, %table: memref<?x?xi32>, %ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32, %i: index) {
  // expected-error @+1 {{'map': expected a box [1, 1, rows, one panel] whose rows are a multiple of 8 that divides those of '!wg.tile<128x64xbf16>', got '!wg.tensor_map<1x1x4x64xbf16>'}}
  wg.copy_pages %cache by %map[layer %i, column 512] through %table[%i] rows(%i, %i) to %ring[%use] element 0
      : memref<?x1x?x4x1x576xbf16> by !wg.tensor_map<1x1x4x64xbf16>, memref<?x?xi32>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  return
}

// -----

func.func @map_divides(%cache: memref<?x1x?x48x1x576xbf16>, %map: !wg.tensor_map<1x1x48x64xbf16>, %table: memref<?x?xi32>, %ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32, %i: index) {
  // expected-error @+1 {{'map': expected a box [1, 1, rows, one panel] whose rows are a multiple of 8 that divides those of '!wg.tile<128x64xbf16>', got '!wg.tensor_map<1x1x48x64xbf16>'}}
  wg.copy_pages %cache by %map[layer %i, column 512] through %table[%i] rows(%i, %i) to %ring[%use] element 0
      : memref<?x1x?x48x1x576xbf16> by !wg.tensor_map<1x1x48x64xbf16>, memref<?x?xi32>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  return
}

// -----

func.func @map_rank(%cache: memref<?x1x?x64x1x576xbf16>, %map: !wg.tensor_map<64x64xbf16>, %table: memref<?x?xi32>, %ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32, %i: index) {
  // expected-error @+1 {{'map': expected a box [1, 1, rows, one panel]}}
  wg.copy_pages %cache by %map[layer %i, column 512] through %table[%i] rows(%i, %i) to %ring[%use] element 0
      : memref<?x1x?x64x1x576xbf16> by !wg.tensor_map<64x64xbf16>, memref<?x?xi32>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  return
}

// -----

// A box of columns that is no whole panel, and no part that the tile consists of.
func.func @map_columns(%cache: memref<?x1x?x64x1x576xbf16>, %map: !wg.tensor_map<1x1x64x32xbf16>, %table: memref<?x?xi32>, %ring: !wg.ring<2 x !wg.tile<128x80xbf16>>, %use: i32, %i: index) {
  // expected-error @+1 {{'map': expected a box [1, 1, rows, one panel] whose rows are a multiple of 8 that divides those of '!wg.tile<128x80xbf16>', got '!wg.tensor_map<1x1x64x32xbf16>'}}
  wg.copy_pages %cache by %map[layer %i, column 480] through %table[%i] rows(%i, %i) to %ring[%use] element 0
      : memref<?x1x?x64x1x576xbf16> by !wg.tensor_map<1x1x64x32xbf16>, memref<?x?xi32>, !wg.ring<2 x !wg.tile<128x80xbf16>>
  return
}

// -----

func.func @map_panels(%cache: memref<?x1x?x64x1x576xbf16>, %map: !wg.tensor_map<1x1x64x128xbf16>, %table: memref<?x?xi32>, %ring: !wg.ring<2 x !wg.tile<128x128xbf16>>, %use: i32, %i: index) {
  // expected-error @+1 {{'map': expected a box [1, 1, rows, one panel] whose rows are a multiple of 8 that divides those of '!wg.tile<128x128xbf16>', got '!wg.tensor_map<1x1x64x128xbf16>'}}
  wg.copy_pages %cache by %map[layer %i, column 0] through %table[%i] rows(%i, %i) to %ring[%use] element 0
      : memref<?x1x?x64x1x576xbf16> by !wg.tensor_map<1x1x64x128xbf16>, memref<?x?xi32>, !wg.ring<2 x !wg.tile<128x128xbf16>>
  return
}
