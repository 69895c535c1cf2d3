// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 4

func.func @no_tile(%item: index, %offsets: tensor<?xi32>) {
  // expected-error @+1 {{attribute 'tile' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %s, %f, %c = mla.locate %item in %offsets tile 0 : tensor<?xi32>
  return
}

// -----

func.func @negative_tile(%item: index, %offsets: tensor<?xi32>) {
  // expected-error @+1 {{attribute 'tile' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %s, %f, %c = mla.locate %item in %offsets tile -128 : tensor<?xi32>
  return
}

// -----

func.func @offsets(%item: index, %offsets: tensor<?xi64>) {
  // expected-error @+1 {{must be 1-D tensor or memref of i32 or ui32, but got 'tensor<?xi64>'}}
  %s, %f, %c = mla.locate %item in %offsets tile 8 : tensor<?xi64>
  return
}

// -----

func.func @rank(%item: index, %offsets: memref<?x?xi32>) {
  // expected-error @+1 {{must be 1-D tensor or memref of i32 or ui32, but got 'memref<?x?xi32>'}}
  %s, %f, %c = mla.locate %item in %offsets tile 8 : memref<?x?xi32>
  return
}
