// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 10

// expected-error @+1 {{ring: expected at least one slot, got 0}}
func.func private @slots(!wg.ring<0 x index>)

// -----

// expected-error @+1 {{ring: expected tiles alone or scalars alone, got 'index'}}
func.func private @mixed(!wg.ring<2 x !wg.tile<64x64xbf16>, index>)

// -----

// expected-error @+1 {{ring: expected tiles alone or scalars alone, got '!wg.tile<64x64xbf16>'}}
func.func private @mixed(!wg.ring<2 x index, !wg.tile<64x64xbf16>>)

// -----

// expected-error @+1 {{ring: expected tiles alone or scalars alone, got '!wg.fragment<64xf32, row>'}}
func.func private @fragment(!wg.ring<2 x !wg.fragment<64xf32, row>>)

// -----

func.func @consumers() {
  // expected-error @+1 {{attribute 'consumers' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0 = wg.ring consumers 0 : !wg.ring<2 x index>
  return
}

// -----

func.func @take(%ring: !wg.ring<2 x index, i32>, %use: i32) {
  // expected-error @+1 {{expected values of the ring's elements, '!wg.ring<2 x index, i32>', got 'index'}}
  %0 = wg.take %ring[%use] : !wg.ring<2 x index, i32> -> index
  return
}

// -----

// expected-note @+1 {{prior use here}}
func.func @put(%ring: !wg.ring<2 x index>, %use: i32, %x: f32) {
  // expected-error @+1 {{use of value '%x' expects different type than prior uses: 'index' vs 'f32'}}
  wg.put %x to %ring[%use] : !wg.ring<2 x index>
  return
}

// -----

func.func @no_ring(%ring: index, %use: i32, %x: f32) {
  // expected-error @+1 {{expected a ring, got 'index'}}
  wg.put %x to %ring[%use] : index
  return
}

// -----

func.func @clear_scalar(%ring: !wg.ring<2 x index>, %use: i32, %count: index) {
  // expected-error @+1 {{'element': expected the number of a tile of '!wg.ring<2 x index>', got 0}}
  wg.clear_rows %ring[%use] element 0 from %count : !wg.ring<2 x index>
  return
}

// -----

func.func @clear_past_end(%ring: !wg.ring<2 x !wg.tile<64x64xbf16>>, %use: i32, %count: index) {
  // expected-error @+1 {{'element': expected the number of a tile of '!wg.ring<2 x !wg.tile<64x64xbf16>>', got 1}}
  wg.clear_rows %ring[%use] element 1 from %count : !wg.ring<2 x !wg.tile<64x64xbf16>>
  return
}
