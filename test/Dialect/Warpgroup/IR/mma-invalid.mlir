// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 11

func.func @layout(%a: !wg.fragment<128x64xbf16, accumulator>, %b: !wg.tile<32x64xbf16>) {
  // expected-error @+1 {{'a': expected a tile or an operand_a fragment, got '!wg.fragment<128x64xbf16, accumulator>'}}
  %0 = wg.mma %a by %b transposed : !wg.fragment<128x64xbf16, accumulator> by !wg.tile<32x64xbf16>
      -> !wg.pending<!wg.fragment<128x32xf32, accumulator>>
  return
}

// -----

func.func @element(%a: !wg.tile<128x64xbf16>, %b: !wg.tile<32x64xf16>) {
  // expected-error @+1 {{'b': expected elements of 'bf16' as 'a', got '!wg.tile<32x64xf16>'}}
  %0 = wg.mma %a by %b transposed : !wg.tile<128x64xbf16> by !wg.tile<32x64xf16>
      -> !wg.pending<!wg.fragment<128x32xf32, accumulator>>
  return
}

// -----

func.func @sum(%a: !wg.tile<128x64xbf16>, %b: !wg.tile<32x64xbf16>) {
  // expected-error @+1 {{expected 'a' and 'b' to agree on the sum's dimension, got 64 and 32}}
  %0 = wg.mma %a by %b : !wg.tile<128x64xbf16> by !wg.tile<32x64xbf16>
      -> !wg.pending<!wg.fragment<128x32xf32, accumulator>>
  return
}

// -----

func.func @sum_transposed(%a: !wg.tile<128x64xbf16>, %b: !wg.tile<64x32xbf16>) {
  // expected-error @+1 {{expected 'a' and 'b' to agree on the sum's dimension, got 64 and 32}}
  %0 = wg.mma %a by %b transposed : !wg.tile<128x64xbf16> by !wg.tile<64x32xbf16>
      -> !wg.pending<!wg.fragment<128x32xf32, accumulator>>
  return
}

// -----

func.func @result_rows(%a: !wg.tile<128x64xbf16>, %b: !wg.tile<32x64xbf16>) {
  // expected-error @+1 {{expected the result to be an f32 accumulator of 128x32, got '!wg.fragment<64x32xf32, accumulator>'}}
  %0 = wg.mma %a by %b transposed : !wg.tile<128x64xbf16> by !wg.tile<32x64xbf16>
      -> !wg.pending<!wg.fragment<64x32xf32, accumulator>>
  return
}

// -----

func.func @result_columns(%a: !wg.tile<128x64xbf16>, %b: !wg.tile<32x64xbf16>) {
  // expected-error @+1 {{expected the result to be an f32 accumulator of 128x32, got '!wg.fragment<128x64xf32, accumulator>'}}
  %0 = wg.mma %a by %b transposed : !wg.tile<128x64xbf16> by !wg.tile<32x64xbf16>
      -> !wg.pending<!wg.fragment<128x64xf32, accumulator>>
  return
}

// -----

func.func @result_element(%a: !wg.tile<128x64xbf16>, %b: !wg.tile<32x64xbf16>) {
  // expected-error @+1 {{expected the result to be an f32 accumulator of 128x32, got '!wg.fragment<128x32xbf16, accumulator>'}}
  %0 = wg.mma %a by %b transposed : !wg.tile<128x64xbf16> by !wg.tile<32x64xbf16>
      -> !wg.pending<!wg.fragment<128x32xbf16, accumulator>>
  return
}

// -----

func.func @result_layout(%a: !wg.tile<128x64xbf16>, %b: !wg.tile<32x64xbf16>) {
  // expected-error @+1 {{expected the result to be an f32 accumulator of 128x32, got '!wg.fragment<128x32xf32, operand_a>'}}
  %0 = wg.mma %a by %b transposed : !wg.tile<128x64xbf16> by !wg.tile<32x64xbf16>
      -> !wg.pending<!wg.fragment<128x32xf32, operand_a>>
  return
}

// -----

func.func @accumulator(%a: !wg.tile<128x64xbf16>, %b: !wg.tile<32x64xbf16>, %c: !wg.fragment<128x64xf32, accumulator>) {
  // expected-error @+1 {{'acc': expected '!wg.fragment<128x32xf32, accumulator>', got '!wg.fragment<128x64xf32, accumulator>'}}
  %0 = wg.mma %a by %b transposed accumulate %c : !wg.fragment<128x64xf32, accumulator>, !wg.tile<128x64xbf16> by !wg.tile<32x64xbf16>
      -> !wg.pending<!wg.fragment<128x32xf32, accumulator>>
  return
}

// -----

func.func @pairs(%a: !wg.tile<128x64xbf16>, %b: !wg.tile<32x64xbf16>) {
  // expected-error @+1 {{expected pairs of 'a' and 'b', got 2 and 1}}
  %0 = wg.mma %a, %a by %b transposed : !wg.tile<128x64xbf16>, !wg.tile<128x64xbf16>
      by !wg.tile<32x64xbf16> -> !wg.pending<!wg.fragment<128x32xf32, accumulator>>
  return
}

// -----

// Of every pair.
func.func @second_pair(%a: !wg.tile<128x64xbf16>, %b: !wg.tile<32x64xbf16>, %c: !wg.tile<32x32xbf16>) {
  // expected-error @+1 {{expected 'a' and 'b' to agree on the sum's dimension, got 64 and 32}}
  %0 = wg.mma %a, %a by %b, %c transposed : !wg.tile<128x64xbf16>, !wg.tile<128x64xbf16>
      by !wg.tile<32x64xbf16>, !wg.tile<32x32xbf16>
      -> !wg.pending<!wg.fragment<128x32xf32, accumulator>>
  return
}
