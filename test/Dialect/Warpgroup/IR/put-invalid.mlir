// Values of the ring's elements, which are scalars: tiles come by copies.

// RUN: mla-opt %s -split-input-file -verify-diagnostics

func.func @type(%ring: !wg.ring<2 x index>, %use: i32, %x: f32) {
  // expected-error @+1 {{'wg.put' op }}
  "wg.put"(%x, %ring, %use) : (f32, !wg.ring<2 x index>, i32) -> ()
  return
}

// -----

func.func @tile(%ring: !wg.ring<2 x !wg.tile<64x64xbf16>>, %use: i32, %x: !wg.tile<64x64xbf16>) {
  // expected-error @+1 {{'wg.put' op }}
  wg.put %x to %ring[%use] : !wg.ring<2 x !wg.tile<64x64xbf16>>
  return
}
