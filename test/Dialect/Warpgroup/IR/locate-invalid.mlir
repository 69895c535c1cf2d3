// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 2

func.func @offsets(%offsets: memref<?x?xi32>, %n: index) {
  // expected-error @+1 {{operand #1 must be 1D memref of 32-bit signless integer or 32-bit unsigned integer values, but got 'memref<?x?xi32>'}}
  %s, %f, %c = wg.locate %n in %offsets tile 128 : memref<?x?xi32>
  return
}

// -----

func.func @tile(%offsets: memref<?xi32>, %n: index) {
  // expected-error @+1 {{attribute 'tile' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %s, %f, %c = wg.locate %n in %offsets tile 0 : memref<?xi32>
  return
}
