// A sum that loops carry from zero, l = l * c + sum of columns, is kept in parts, one in
// each thread of a row; they meet after the last loop.

// RUN: mla-opt %s -mla-wg-defer-reductions -canonicalize -cse | FileCheck %s

!s = !wg.fragment<64x64xf32, accumulator>
!row = !wg.fragment<64xf32, row>

// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[P:[a-z0-9]+]]: !wg.fragment<64x64xf32, accumulator>, %[[C:[a-z0-9]+]]: !wg.fragment<64xf32, row>
// CHECK: %[[ZERO:.*]] = wg.splat %{{.*}} : f32 -> <64xf32, partial>
// CHECK: %[[A:.*]] = scf.for {{.*}} iter_args(%[[L:.*]] = %[[ZERO]]) -> (!wg.fragment<64xf32, partial>) {
// CHECK: %[[SCALED:.*]] = wg.map %[[L]], %[[C]] : !wg.fragment<64xf32, partial>, !wg.fragment<64xf32, row> -> <64xf32, partial> {
// CHECK: %[[MORE:.*]] = wg.reduce %[[P]], %[[SCALED]] : <64x64xf32, accumulator> -> <64xf32, partial> {
// CHECK: scf.yield %[[MORE]]
// The factor may come first: what is carried gives the result's layout.
// CHECK: %[[B:.*]] = scf.for {{.*}} iter_args(%[[L:.*]] = %[[A]]) -> (!wg.fragment<64xf32, partial>) {
// CHECK: wg.map %[[L]], %[[C]] : !wg.fragment<64xf32, partial>, !wg.fragment<64xf32, row> -> <64xf32, partial> {
// CHECK-NOT: wg.combine
// CHECK: }
// CHECK: %[[SUM:.*]] = wg.combine %[[B]] : <64xf32, partial> -> <64xf32, row> {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
// CHECK-NEXT: arith.addf
// CHECK: wg.store %[[SUM]]
func.func @chain(%p: !s, %c: !row, %out: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %f = arith.constant 0.0 : f32
  %zero = wg.splat %f : f32 -> !row
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zero) -> (!row) {
    %scaled = wg.map %l, %c : !row, !row -> !row {
    ^bb0(%x: f32, %y: f32, %r: index, %k: index):
      %z = arith.mulf %x, %y : f32
      wg.yield %z : f32
    }
    %more = wg.reduce %p, %scaled : !s -> !row {
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      wg.yield %z : f32
    }
    scf.yield %more : !row
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%l = %a) -> (!row) {
    %scaled = wg.map %c, %l : !row, !row -> !row {
    ^bb0(%x: f32, %y: f32, %r: index, %k: index):
      %z = arith.mulf %x, %y : f32
      wg.yield %z : f32
    }
    %more = wg.reduce %p, %scaled : !s -> !row {
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      wg.yield %z : f32
    }
    scf.yield %more : !row
  }
  wg.store %b, %out count %c64 : !row, memref<64xf32>
  return
}

// What starts from something else than zero would count it once for each thread;
// CHECK-LABEL: func.func @start
// CHECK-NOT: partial
func.func @start(%p: !s, %c: !row, %one: f32, %out: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %init = wg.splat %one : f32 -> !row
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%l = %init) -> (!row) {
    %scaled = wg.map %l, %c : !row, !row -> !row {
    ^bb0(%x: f32, %y: f32, %r: index, %k: index):
      %z = arith.mulf %x, %y : f32
      wg.yield %z : f32
    }
    %more = wg.reduce %p, %scaled : !s -> !row {
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      wg.yield %z : f32
    }
    scf.yield %more : !row
  }
  wg.store %a, %out count %c64 : !row, memref<64xf32>
  return
}

// a maximum is not linear;
// CHECK-LABEL: func.func @maximum
// CHECK-NOT: partial
func.func @maximum(%p: !s, %c: !row, %out: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %f = arith.constant 0.0 : f32
  %zero = wg.splat %f : f32 -> !row
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zero) -> (!row) {
    %scaled = wg.map %l, %c : !row, !row -> !row {
    ^bb0(%x: f32, %y: f32, %r: index, %k: index):
      %z = arith.mulf %x, %y : f32
      wg.yield %z : f32
    }
    %more = wg.reduce %p, %scaled : !s -> !row {
    ^bb0(%x: f32, %y: f32):
      %z = arith.maximumf %x, %y : f32
      wg.yield %z : f32
    }
    scf.yield %more : !row
  }
  wg.store %a, %out count %c64 : !row, memref<64xf32>
  return
}

// nor is a scale that adds;
// CHECK-LABEL: func.func @offset
// CHECK-NOT: partial
func.func @offset(%p: !s, %c: !row, %out: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %f = arith.constant 0.0 : f32
  %zero = wg.splat %f : f32 -> !row
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zero) -> (!row) {
    %scaled = wg.map %l, %c : !row, !row -> !row {
    ^bb0(%x: f32, %y: f32, %r: index, %k: index):
      %z = arith.addf %x, %y : f32
      wg.yield %z : f32
    }
    %more = wg.reduce %p, %scaled : !s -> !row {
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      wg.yield %z : f32
    }
    scf.yield %more : !row
  }
  wg.store %a, %out count %c64 : !row, memref<64xf32>
  return
}

// and whoever reads the sum in the loop wants all of it.
// CHECK-LABEL: func.func @read
// CHECK-NOT: partial
func.func @read(%p: !s, %c: !row, %out: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %f = arith.constant 0.0 : f32
  %zero = wg.splat %f : f32 -> !row
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zero) -> (!row) {
    wg.store %l, %out count %c64 : !row, memref<64xf32>
    %scaled = wg.map %l, %c : !row, !row -> !row {
    ^bb0(%x: f32, %y: f32, %r: index, %k: index):
      %z = arith.mulf %x, %y : f32
      wg.yield %z : f32
    }
    %more = wg.reduce %p, %scaled : !s -> !row {
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      wg.yield %z : f32
    }
    scf.yield %more : !row
  }
  return
}

// A second loop that does something else with it gets the sum.
// CHECK-LABEL: func.func @half_a_chain
// CHECK: %[[A:.*]] = scf.for {{.*}} -> (!wg.fragment<64xf32, partial>)
// CHECK: %[[SUM:.*]] = wg.combine %[[A]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[SUM]]) -> (!wg.fragment<64xf32, row>)
func.func @half_a_chain(%p: !s, %c: !row, %out: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %f = arith.constant 0.0 : f32
  %zero = wg.splat %f : f32 -> !row
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zero) -> (!row) {
    %scaled = wg.map %l, %c : !row, !row -> !row {
    ^bb0(%x: f32, %y: f32, %r: index, %k: index):
      %z = arith.mulf %x, %y : f32
      wg.yield %z : f32
    }
    %more = wg.reduce %p, %scaled : !s -> !row {
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      wg.yield %z : f32
    }
    scf.yield %more : !row
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%l = %a) -> (!row) {
    %more = wg.reduce %p, %l : !s -> !row {
    ^bb0(%x: f32, %y: f32):
      %z = arith.maximumf %x, %y : f32
      wg.yield %z : f32
    }
    scf.yield %more : !row
  }
  wg.store %b, %out count %c64 : !row, memref<64xf32>
  return
}
