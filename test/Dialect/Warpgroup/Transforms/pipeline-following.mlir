// What follows a chain and needs its rows, but not its accumulator, runs while the last
// product does, and on what the chain begins with where there is no tile. What needs the
// accumulator, or comes of what needs it, stays behind.

// RUN: mla-opt %s -mla-wg-pipeline=turns=false -canonicalize -cse | FileCheck %s

!t = !wg.tile<64x64xbf16>
!q = !wg.tile<64x64xbf16>
!ring = !wg.ring<2 x !t>
!o = !wg.fragment<64x64xf32, accumulator>
!row = !wg.fragment<64xf32, row>
!half = !wg.fragment<64x64xbf16, accumulator>
!a = !wg.fragment<64x64xbf16, operand_a>

// CHECK-LABEL: func.func @rows
// CHECK: %[[ALL:.*]]:2 = scf.if
// CHECK: scf.for
// CHECK: scf.yield
// CHECK: %[[LAST:.*]] = wg.mma {{.*}} accumulate
// CHECK-NEXT: %[[TWICE:.*]] = wg.map %{{.*}} : !wg.fragment<64xf32, row> -> <64xf32, row>
// CHECK: arith.addf
// CHECK: %[[SCALED:.*]] = wg.map %[[TWICE]] : !wg.fragment<64xf32, row> -> <64xf32, row>
// CHECK: arith.mulf
// CHECK: %[[SUM:.*]] = wg.wait %[[LAST]]
// CHECK: scf.yield %[[SUM]], %[[SCALED]]
// CHECK: } else {
// CHECK: wg.map
// CHECK: arith.addf
// CHECK: wg.map
// CHECK: arith.mulf
// CHECK: scf.yield
// What comes of the accumulator.
// CHECK: %[[OUT:.*]] = wg.map %[[ALL]]#0, %[[ALL]]#1
// CHECK: %[[LATE:.*]] = wg.reduce %[[ALL]]#0
// CHECK: %[[AFTER:.*]] = wg.map %[[LATE]]
// CHECK: wg.store %[[OUT]]
// CHECK: wg.store %[[AFTER]]
func.func @rows(%keys: !ring, %values: !ring, %q: !q, %out: memref<64x64xf32>,
    %rest: memref<64xf32>, %lo: index, %hi: index, %factor: f32) {
  %c64 = arith.constant 64 : index
  wg.roles warpgroups 1 producer registers 40 {
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %acc0 = wg.splat %f : f32 -> !o
    %max0 = wg.splat %f : f32 -> !row
    %r:3 = scf.for %j = %lo to %hi step %c64 iter_args(%acc = %acc0, %max = %max0, %use = %zero)
        -> (!o, !row, i32) {
      %kt = wg.take %keys[%use] : !ring -> !t
      %sp = wg.mma %q by %kt transposed : !q by !t -> !wg.pending<!o>
      %s = wg.wait %sp : !wg.pending<!o> -> !o
      wg.release %keys[%use] : !ring
      %more = wg.reduce %s, %max : !o -> !row {
      ^bb0(%x: f32, %y: f32):
        %z = arith.maximumf %x, %y : f32
        wg.yield %z : f32
      }
      %h = wg.map %s : !o -> !half {
      ^bb0(%x: f32, %i: index, %k: index):
        %z = arith.truncf %x : f32 to bf16
        wg.yield %z : bf16
      }
      %p = wg.operand_a %h : !half -> !a
      %vt = wg.take %values[%use] : !ring -> !t
      %op = wg.mma %p by %vt accumulate %acc : !o, !a by !t -> !wg.pending<!o>
      %o = wg.wait %op : !wg.pending<!o> -> !o
      wg.release %values[%use] : !ring
      %next = arith.addi %use, %one : i32
      scf.yield %o, %more, %next : !o, !row, i32
    }
    %twice = wg.map %r#1 : !row -> !row {
    ^bb0(%x: f32, %i: index, %k: index):
      %z = arith.addf %x, %x : f32
      wg.yield %z : f32
    }
    %scaled = wg.map %twice : !row -> !row {
    ^bb0(%x: f32, %i: index, %k: index):
      %z = arith.mulf %x, %factor : f32
      wg.yield %z : f32
    }
    %y = wg.map %r#0, %scaled : !o, !row -> !o {
    ^bb0(%a: f32, %b: f32, %i: index, %k: index):
      %z = arith.mulf %a, %b : f32
      wg.yield %z : f32
    }
    %late = wg.reduce %r#0, %max0 : !o -> !row {
    ^bb0(%a: f32, %b: f32):
      %z = arith.addf %a, %b : f32
      wg.yield %z : f32
    }
    %after = wg.map %late : !row -> !row {
    ^bb0(%x: f32, %i: index, %k: index):
      %z = arith.negf %x : f32
      wg.yield %z : f32
    }
    wg.store %y, %out count %c64 : !o, memref<64x64xf32>
    wg.store %after, %rest count %c64 : !row, memref<64xf32>
  }
  return
}
