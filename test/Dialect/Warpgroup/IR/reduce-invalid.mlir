// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 7

func.func @input(%s: !wg.fragment<128x64xf32, operand_a>, %m: !wg.fragment<128xf32, row>) {
  // expected-error @+1 {{'input': expected an accumulator, got '!wg.fragment<128x64xf32, operand_a>'}}
  %0 = wg.reduce %s, %m : !wg.fragment<128x64xf32, operand_a> -> !wg.fragment<128xf32, row> {
  ^bb0(%x: f32, %y: f32):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @layout(%s: !wg.fragment<128x64xf32, accumulator>, %m: !wg.fragment<128x64xf32, accumulator>) {
  // expected-error @+1 {{expected one 'f32' a row of 'input', got '!wg.fragment<128x64xf32, accumulator>'}}
  %0 = wg.reduce %s, %m : !wg.fragment<128x64xf32, accumulator> -> !wg.fragment<128x64xf32, accumulator> {
  ^bb0(%x: f32, %y: f32):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @rows(%s: !wg.fragment<128x64xf32, accumulator>, %m: !wg.fragment<64xf32, row>) {
  // expected-error @+1 {{expected one 'f32' a row of 'input', got '!wg.fragment<64xf32, row>'}}
  %0 = wg.reduce %s, %m : !wg.fragment<128x64xf32, accumulator> -> !wg.fragment<64xf32, row> {
  ^bb0(%x: f32, %y: f32):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @element(%s: !wg.fragment<128x64xf32, accumulator>, %m: !wg.fragment<128xbf16, row>) {
  // expected-error @+1 {{expected one 'f32' a row of 'input', got '!wg.fragment<128xbf16, row>'}}
  %0 = wg.reduce %s, %m : !wg.fragment<128x64xf32, accumulator> -> !wg.fragment<128xbf16, row> {
  ^bb0(%x: f32, %y: f32):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @arguments(%s: !wg.fragment<128x64xf32, accumulator>, %m: !wg.fragment<128xf32, row>) {
  // expected-error @+1 {{expected a body that combines two 'f32'}}
  %0 = wg.reduce %s, %m : !wg.fragment<128x64xf32, accumulator> -> !wg.fragment<128xf32, row> {
  ^bb0(%x: f32):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @argument(%s: !wg.fragment<128x64xf32, accumulator>, %m: !wg.fragment<128xf32, row>) {
  // expected-error @+1 {{expected a body that combines two 'f32'}}
  %0 = wg.reduce %s, %m : !wg.fragment<128x64xf32, accumulator> -> !wg.fragment<128xf32, row> {
  ^bb0(%x: f32, %y: bf16):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @yielded(%s: !wg.fragment<128x64xf32, accumulator>, %m: !wg.fragment<128xf32, row>) {
  // expected-error @+1 {{expected a body that combines two 'f32'}}
  %0 = wg.reduce %s, %m : !wg.fragment<128x64xf32, accumulator> -> !wg.fragment<128xf32, row> {
  ^bb0(%y: f32, %x: bf16):
    wg.yield %x : bf16
  }
  return
}
