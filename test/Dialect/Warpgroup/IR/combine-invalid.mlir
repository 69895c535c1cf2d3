// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 5

func.func @partial(%s: !wg.fragment<128xf32, row>) {
  // expected-error @+1 {{'partial': expected a partial fragment, got '!wg.fragment<128xf32, row>'}}
  %0 = wg.combine %s : !wg.fragment<128xf32, row> -> !wg.fragment<128xf32, row> {
  ^bb0(%x: f32, %y: f32):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @result(%s: !wg.fragment<128xf32, partial>) {
  // expected-error @+1 {{expected a row value for each of 'partial', got '!wg.fragment<128xf32, partial>'}}
  %0 = wg.combine %s : !wg.fragment<128xf32, partial> -> !wg.fragment<128xf32, partial> {
  ^bb0(%x: f32, %y: f32):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @rows(%s: !wg.fragment<128xf32, partial>) {
  // expected-error @+1 {{expected a row value for each of 'partial', got '!wg.fragment<64xf32, row>'}}
  %0 = wg.combine %s : !wg.fragment<128xf32, partial> -> !wg.fragment<64xf32, row> {
  ^bb0(%x: f32, %y: f32):
    wg.yield %x : f32
  }
  return
}

// -----

func.func @body(%s: !wg.fragment<128xf32, partial>) {
  // expected-error @+1 {{expected a body that combines two 'f32'}}
  %0 = wg.combine %s : !wg.fragment<128xf32, partial> -> !wg.fragment<128xf32, row> {
  ^bb0(%x: f32):
    wg.yield %x : f32
  }
  return
}

// -----

// A part is no row's value yet.
func.func @store(%s: !wg.fragment<128xf32, partial>, %dest: memref<128xf32>, %count: index) {
  // expected-error @+1 {{'fragment': expected an accumulator or row values, got '!wg.fragment<128xf32, partial>'}}
  wg.store %s, %dest count %count : !wg.fragment<128xf32, partial>, memref<128xf32>
  return
}
