// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 6

func.func @arguments(%offsets: memref<?xi32>, %heads: index) {
  // expected-error @+1 {{expected a body with a sequence, a first query and a number of queries, of index type}}
  %order = wg.order %offsets tile 128 heads %heads for 512 : memref<?xi32> {
  ^bb0(%sequence: index, %first: index):
    wg.yield %first : index
  }
  return
}

// -----

func.func @types(%offsets: memref<?xi32>, %heads: index, %cost: index) {
  // expected-error @+1 {{expected a body with a sequence, a first query and a number of queries, of index type}}
  %order = wg.order %offsets tile 128 heads %heads for 512 : memref<?xi32> {
  ^bb0(%sequence: index, %first: index, %count: i32):
    wg.yield %cost : index
  }
  return
}

// -----

func.func @cost(%offsets: memref<?xi32>, %heads: index, %cost: i32) {
  // expected-error @+1 {{expected a body that yields an index}}
  %order = wg.order %offsets tile 128 heads %heads for 512 : memref<?xi32> {
  ^bb0(%sequence: index, %first: index, %count: index):
    wg.yield %cost : i32
  }
  return
}

// -----

func.func @offsets(%offsets: memref<?xi64>, %heads: index, %cost: index) {
  // expected-error @+1 {{operand #0 must be 1D memref of 32-bit signless integer or 32-bit unsigned integer values}}
  %order = wg.order %offsets tile 128 heads %heads for 512 : memref<?xi64> {
  ^bb0(%sequence: index, %first: index, %count: index):
    wg.yield %cost : index
  }
  return
}

// -----

func.func @tile(%offsets: memref<?xi32>, %heads: index, %cost: index) {
  // expected-error @+1 {{attribute 'tile' failed to satisfy constraint}}
  %order = wg.order %offsets tile 0 heads %heads for 512 : memref<?xi32> {
  ^bb0(%sequence: index, %first: index, %count: index):
    wg.yield %cost : index
  }
  return
}

// -----

func.func @item(%order: index, %offsets: memref<?xi32>, %n: index) {
  // expected-note @-1 {{prior use here}}
  // expected-error @+1 {{use of value '%order' expects different type than prior uses: '!wg.order' vs 'index'}}
  %s, %f, %c, %h = wg.item %order[%n] heads %n in %offsets tile 128 : memref<?xi32>
  return
}
