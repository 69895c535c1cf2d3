// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 7

func.func @coordinates(%map: !wg.tensor_map<128x1x64xbf16>, %ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32) {
  // expected-error @+1 {{expected 3 coordinates, got 2}}
  wg.copy_box %map[%use, %use] to %ring[%use] element 0 column 0
      : !wg.tensor_map<128x1x64xbf16>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  return
}

// -----

func.func @scalars(%map: !wg.tensor_map<128x64xbf16>, %ring: !wg.ring<2 x index>, %use: i32) {
  // expected-error @+1 {{'element': expected the number of a tile of '!wg.ring<2 x index>', got 0}}
  wg.copy_box %map[%use, %use] to %ring[%use] element 0 column 0
      : !wg.tensor_map<128x64xbf16>, !wg.ring<2 x index>
  return
}

// -----

func.func @element(%map: !wg.tensor_map<128x64xf16>, %ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32) {
  // expected-error @+1 {{expected a box that is a panel of '!wg.tile<128x64xbf16>' at a multiple of 64 columns, got '!wg.tensor_map<128x64xf16>' at 0}}
  wg.copy_box %map[%use, %use] to %ring[%use] element 0 column 0
      : !wg.tensor_map<128x64xf16>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  return
}

// -----

func.func @rows(%map: !wg.tensor_map<64x64xbf16>, %ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32) {
  // expected-error @+1 {{expected a box that is a panel of '!wg.tile<128x64xbf16>' at a multiple of 64 columns, got '!wg.tensor_map<64x64xbf16>' at 0}}
  wg.copy_box %map[%use, %use] to %ring[%use] element 0 column 0
      : !wg.tensor_map<64x64xbf16>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  return
}

// -----

func.func @column(%map: !wg.tensor_map<128x32xbf16>, %ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32) {
  // expected-error @+1 {{at a multiple of 64 columns, got '!wg.tensor_map<128x32xbf16>' at 32}}
  wg.copy_box %map[%use, %use] to %ring[%use] element 0 column 32
      : !wg.tensor_map<128x32xbf16>, !wg.ring<2 x !wg.tile<128x64xbf16>>
  return
}

// -----

// A panel that the tile has none of, not even in part.
func.func @past_the_end(%map: !wg.tensor_map<128x64xbf16>, %ring: !wg.ring<2 x !wg.tile<128x80xbf16>>, %use: i32) {
  // expected-error @+1 {{expected a box that is a panel of '!wg.tile<128x80xbf16>' at a multiple of 64 columns, got '!wg.tensor_map<128x64xbf16>' at 128}}
  wg.copy_box %map[%use, %use] to %ring[%use] element 0 column 128
      : !wg.tensor_map<128x64xbf16>, !wg.ring<2 x !wg.tile<128x80xbf16>>
  return
}

// -----

func.func @two_panels(%map: !wg.tensor_map<128x128xbf16>, %ring: !wg.ring<2 x !wg.tile<128x128xbf16>>, %use: i32) {
  // expected-error @+1 {{expected a box that is a panel of '!wg.tile<128x128xbf16>' at a multiple of 64 columns, got '!wg.tensor_map<128x128xbf16>' at 0}}
  wg.copy_box %map[%use, %use] to %ring[%use] element 0 column 0
      : !wg.tensor_map<128x128xbf16>, !wg.ring<2 x !wg.tile<128x128xbf16>>
  return
}
