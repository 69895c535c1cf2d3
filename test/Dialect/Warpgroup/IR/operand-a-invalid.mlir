// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 4

func.func @source(%p: !wg.fragment<128x64xbf16, operand_a>) {
  // expected-error @+1 {{expected an accumulator and the same as an operand_a, got '!wg.fragment<128x64xbf16, operand_a>' and '!wg.fragment<128x64xbf16, operand_a>'}}
  %0 = wg.operand_a %p : !wg.fragment<128x64xbf16, operand_a> -> !wg.fragment<128x64xbf16, operand_a>
  return
}

// -----

func.func @result(%p: !wg.fragment<128x64xbf16, accumulator>) {
  // expected-error @+1 {{expected an accumulator and the same as an operand_a, got '!wg.fragment<128x64xbf16, accumulator>' and '!wg.fragment<128x64xbf16, accumulator>'}}
  %0 = wg.operand_a %p : !wg.fragment<128x64xbf16, accumulator> -> !wg.fragment<128x64xbf16, accumulator>
  return
}

// -----

func.func @shape(%p: !wg.fragment<128x64xbf16, accumulator>) {
  // expected-error @+1 {{expected an accumulator and the same as an operand_a, got '!wg.fragment<128x64xbf16, accumulator>' and '!wg.fragment<128x32xbf16, operand_a>'}}
  %0 = wg.operand_a %p : !wg.fragment<128x64xbf16, accumulator> -> !wg.fragment<128x32xbf16, operand_a>
  return
}

// -----

func.func @element(%p: !wg.fragment<128x64xbf16, accumulator>) {
  // expected-error @+1 {{expected an accumulator and the same as an operand_a, got '!wg.fragment<128x64xbf16, accumulator>' and '!wg.fragment<128x64xf16, operand_a>'}}
  %0 = wg.operand_a %p : !wg.fragment<128x64xbf16, accumulator> -> !wg.fragment<128x64xf16, operand_a>
  return
}
