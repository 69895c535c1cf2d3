// RUN: mla-opt %s -mla-warpgroup-outline -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -mla-warpgroup-outline -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 6

func.func @three_dimensions(%n: index) {
  // expected-error @+1 {{'scf.forall' op expected at most two dimensions from 0 by 1, and no results}}
  scf.forall (%i, %h, %k) in (%n, 2, 3) {
  }
  return
}

// -----

func.func @bounds(%n: index) {
  // expected-error @+1 {{'scf.forall' op expected at most two dimensions from 0 by 1, and no results}}
  scf.forall (%i, %h) = (1, 0) to (%n, 4) step (1, 1) {
  }
  return
}

// -----

func.func @steps(%n: index) {
  // expected-error @+1 {{'scf.forall' op expected at most two dimensions from 0 by 1, and no results}}
  scf.forall (%i, %h) = (0, 0) to (%n, 4) step (2, 1) {
  }
  return
}

// -----

func.func @results(%n: index, %x: tensor<?xf32>) {
  // expected-error @+1 {{'scf.forall' op expected at most two dimensions from 0 by 1, and no results}}
  %r = scf.forall (%i, %h) in (%n, 4) shared_outs(%o = %x) -> (tensor<?xf32>) {
  }
  return
}

// -----

func.func @warpgroups(%n: index, %f: f32) {
  scf.forall (%i, %h) in (%n, 4) {
    %a = wg.splat %f : f32 -> !wg.fragment<128xf32, row>
    // expected-error @+1 {{'wg.splat' op expected fragments of 2 warpgroups as before, got '!wg.fragment<64xf32, row>'}}
    %b = wg.splat %f : f32 -> !wg.fragment<64xf32, row>
  }
  return
}

// -----

func.func @capture(%n: index, %x: tensor<?xf32>, %out: memref<?xf32>) {
  // expected-error @+1 {{'scf.forall' op captures a value of type 'tensor<?xf32>', which has no LLVM type}}
  scf.forall (%i, %h) in (%n, 4) {
    %f = tensor.extract %x[%i] : tensor<?xf32>
    memref.store %f, %out[%i] : memref<?xf32>
  }
  return
}
