// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 9

func.func @no_input() {
  // expected-error @+1 {{expected an input}}
  %0 = "wg.map"() ({
  ^bb0(%i: index, %j: index):
    %x = arith.constant 0.0 : f32
    wg.yield %x : f32
  }) : () -> !wg.fragment<64xf32, row>
  return
}

// -----

func.func @result_shape(%s: !wg.fragment<128x64xf32, accumulator>) {
  // expected-error @+1 {{expected a result of the first input's layout, '!wg.fragment<128x64xf32, accumulator>', got '!wg.fragment<128x128xf32, accumulator>'}}
  %0 = wg.map %s : !wg.fragment<128x64xf32, accumulator>
      -> !wg.fragment<128x128xf32, accumulator> {
  ^bb0(%x: f32, %i: index, %j: index):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @result_layout(%s: !wg.fragment<128x64xf32, accumulator>) {
  // expected-error @+1 {{expected a result of the first input's layout, '!wg.fragment<128x64xf32, accumulator>', got '!wg.fragment<128x64xf32, operand_a>'}}
  %0 = wg.map %s : !wg.fragment<128x64xf32, accumulator>
      -> !wg.fragment<128x64xf32, operand_a> {
  ^bb0(%x: f32, %i: index, %j: index):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @arguments(%s: !wg.fragment<128x64xf32, accumulator>) {
  // expected-error @+1 {{expected 3 block arguments, got 1}}
  %0 = wg.map %s : !wg.fragment<128x64xf32, accumulator>
      -> !wg.fragment<128x64xf32, accumulator> {
  ^bb0(%x: f32):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @input_rows(%s: !wg.fragment<128x64xf32, accumulator>, %m: !wg.fragment<64xf32, row>) {
  // expected-error @+1 {{expected inputs of one shape, or one value a row, got '!wg.fragment<128x64xf32, accumulator>' and '!wg.fragment<64xf32, row>'}}
  %0 = wg.map %s, %m : !wg.fragment<128x64xf32, accumulator>, !wg.fragment<64xf32, row>
      -> !wg.fragment<128x64xf32, accumulator> {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @input_columns(%s: !wg.fragment<128x64xf32, accumulator>, %t: !wg.fragment<128x32xf32, accumulator>) {
  // expected-error @+1 {{expected inputs of one shape, or one value a row, got '!wg.fragment<128x64xf32, accumulator>' and '!wg.fragment<128x32xf32, accumulator>'}}
  %0 = wg.map %s, %t : !wg.fragment<128x64xf32, accumulator>, !wg.fragment<128x32xf32, accumulator>
      -> !wg.fragment<128x64xf32, accumulator> {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @argument(%s: !wg.fragment<128x64xf32, accumulator>, %m: !wg.fragment<128xf32, row>) {
  // expected-error @+1 {{expected a block argument of 'f32', got 'bf16'}}
  %0 = wg.map %s, %m : !wg.fragment<128x64xf32, accumulator>, !wg.fragment<128xf32, row>
      -> !wg.fragment<128x64xf32, accumulator> {
  ^bb0(%x: f32, %y: bf16, %i: index, %j: index):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @coordinates(%s: !wg.fragment<128x64xf32, accumulator>) {
  // expected-error @+1 {{expected row and column of index type, got 'i32'}}
  %0 = wg.map %s : !wg.fragment<128x64xf32, accumulator>
      -> !wg.fragment<128x64xf32, accumulator> {
  ^bb0(%x: f32, %i: index, %j: i32):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @yielded(%s: !wg.fragment<128x64xf32, accumulator>) {
  // expected-error @+1 {{expected to yield 'bf16', got 'f32'}}
  %0 = wg.map %s : !wg.fragment<128x64xf32, accumulator>
      -> !wg.fragment<128x64xbf16, accumulator> {
  ^bb0(%x: f32, %i: index, %j: index):
    wg.yield %x : f32
  }
  return
}
