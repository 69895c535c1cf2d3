// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 5

func.func @layout(%f: !wg.fragment<128x64xbf16, operand_a>, %dest: memref<?x64xbf16>, %count: index) {
  // expected-error @+1 {{'fragment': expected an accumulator or row values, got '!wg.fragment<128x64xbf16, operand_a>'}}
  wg.store %f, %dest count %count : !wg.fragment<128x64xbf16, operand_a>, memref<?x64xbf16>
  return
}

// -----

func.func @rank(%f: !wg.fragment<128xf32, row>, %dest: memref<?x64xf32>, %count: index) {
  // expected-error @+1 {{'dest': expected rows of '!wg.fragment<128xf32, row>', got 'memref<?x64xf32>'}}
  wg.store %f, %dest count %count : !wg.fragment<128xf32, row>, memref<?x64xf32>
  return
}

// -----

func.func @rank_of_elements(%f: !wg.fragment<128x64xf32, accumulator>, %dest: memref<?xf32>, %count: index) {
  // expected-error @+1 {{'dest': expected rows of '!wg.fragment<128x64xf32, accumulator>', got 'memref<?xf32>'}}
  wg.store %f, %dest count %count : !wg.fragment<128x64xf32, accumulator>, memref<?xf32>
  return
}

// -----

func.func @element(%f: !wg.fragment<128x64xf32, accumulator>, %dest: memref<?x64xbf16>, %count: index) {
  // expected-error @+1 {{'dest': expected rows of '!wg.fragment<128x64xf32, accumulator>', got 'memref<?x64xbf16>'}}
  wg.store %f, %dest count %count : !wg.fragment<128x64xf32, accumulator>, memref<?x64xbf16>
  return
}

// -----

func.func @columns(%f: !wg.fragment<128x64xf32, accumulator>, %dest: memref<?x128xf32>, %count: index) {
  // expected-error @+1 {{'dest': expected rows of '!wg.fragment<128x64xf32, accumulator>', got 'memref<?x128xf32>'}}
  wg.store %f, %dest count %count : !wg.fragment<128x64xf32, accumulator>, memref<?x128xf32>
  return
}
