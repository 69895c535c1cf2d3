// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 10

// expected-error @+1 {{tensor map: expected 1 to 5 dimensions, got 6}}
func.func private @rank(!wg.tensor_map<1x1x1x1x1x64xbf16>)

// -----

// expected-error @+1 {{tensor map: expected 1 to 5 dimensions, got 0}}
func.func private @no_rank(!wg.tensor_map<bf16>)

// -----

// expected-error @+1 {{tensor map: expected elements of bf16 or f16, got 'f32'}}
func.func private @element(!wg.tensor_map<128x64xf32>)

// -----

// expected-error @+1 {{tensor map: expected extents from 1 to 256, got 512}}
func.func private @many_rows(!wg.tensor_map<512x64xbf16>)

// -----

// expected-error @+1 {{tensor map: expected extents from 1 to 256, got 0}}
func.func private @no_rows(!wg.tensor_map<0x64xbf16>)

// -----

// The copy engine moves 16 bytes at least.
// expected-error @+1 {{tensor map: expected a last extent of a multiple of 8, got 12}}
func.func private @columns(!wg.tensor_map<64x12xbf16>)

// -----

// expected-error @+1 {{expected static shape}}
func.func private @dynamic(!wg.tensor_map<?x64xbf16>)

// -----

func.func @source_rank(%x: memref<?x128xbf16>) {
  // expected-error @+1 {{'source': expected a memref of the rank and element type of '!wg.tensor_map<128x1x64xbf16>', got 'memref<?x128xbf16>'}}
  %0 = wg.tensor_map %x operand "x" : memref<?x128xbf16> -> !wg.tensor_map<128x1x64xbf16>
  return
}

// -----

func.func @source_element(%x: memref<?x128xf16>) {
  // expected-error @+1 {{'source': expected a memref of the rank and element type of '!wg.tensor_map<128x64xbf16>', got 'memref<?x128xf16>'}}
  %0 = wg.tensor_map %x operand "x" : memref<?x128xf16> -> !wg.tensor_map<128x64xbf16>
  return
}

// -----

func.func @source_stride(%x: memref<?x128xbf16, strided<[?, 2]>>) {
  // expected-error @+1 {{'source': expected a last dimension of stride 1, got 'memref<?x128xbf16, strided<[?, 2]>>'}}
  %0 = wg.tensor_map %x operand "x" : memref<?x128xbf16, strided<[?, 2]>> -> !wg.tensor_map<128x64xbf16>
  return
}
