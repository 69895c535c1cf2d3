// Loops make one chain if the second product, and what it needs, is the same in both; and
// if nothing but them stands between.

// RUN: mla-opt %s -mla-wg-pipeline -canonicalize -cse | FileCheck %s

!t = !wg.tile<64x64xbf16>
!ring = !wg.ring<2 x !t>
!o = !wg.fragment<64x64xf32, accumulator>
!row = !wg.fragment<64xf32, row>
!half = !wg.fragment<64x64xbf16, accumulator>
!a = !wg.fragment<64x64xbf16, operand_a>

// One scales what was there, the other adds to it: two chains, each with a last product of
// its own.
// CHECK-LABEL: func.func @different
// CHECK: scf.for
// CHECK-COUNT-2: wg.mma
// CHECK: }
// CHECK: wg.mma {{.*}} accumulate
// CHECK: wg.wait
// CHECK: scf.for
// CHECK: wg.store
func.func @different(%keys: !ring, %values: !ring, %q: !t, %out: memref<64x64xf32>, %lo: index, %middle: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  wg.roles warpgroups 1 producer registers 40 {
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %acc0 = wg.splat %f : f32 -> !o
    %max0 = wg.splat %f : f32 -> !row
    %r0:3 = scf.for %j = %lo to %middle step %c64 iter_args(%acc = %acc0, %max = %max0, %use = %zero)
          -> (!o, !row, i32) {
        %kt = wg.take %keys[%use] : !ring -> !t
        %sp = wg.mma %q by %kt transposed : !t by !t -> !wg.pending<!o>
        %s = wg.wait %sp : !wg.pending<!o> -> !o
        wg.release %keys[%use] : !ring
        %more = wg.reduce %s, %max : !o -> !row {
        ^bb0(%x: f32, %y: f32):
          %z = arith.maximumf %x, %y : f32
          wg.yield %z : f32
        }
        %p = wg.map %s, %more : !o, !row -> !half {
        ^bb0(%x: f32, %y: f32, %row: index, %column: index):
          %z = arith.subf %x, %y : f32
          %w = arith.truncf %z : f32 to bf16
          wg.yield %w : bf16
        }
        %scaled = wg.map %acc, %more : !o, !row -> !o {
        ^bb0(%x: f32, %y: f32, %row: index, %column: index):
          %z = arith.mulf %x, %y : f32
          wg.yield %z : f32
        }
        %a = wg.operand_a %p : !half -> !a
        %vt = wg.take %values[%use] : !ring -> !t
        %op = wg.mma %a by %vt accumulate %scaled : !o, !a by !t -> !wg.pending<!o>
        %o = wg.wait %op : !wg.pending<!o> -> !o
        wg.release %values[%use] : !ring
        %next = arith.addi %use, %one : i32
        scf.yield %o, %more, %next : !o, !row, i32
      }
    %r1:3 = scf.for %j = %middle to %hi step %c64 iter_args(%acc = %r0#0, %max = %r0#1, %use = %r0#2)
          -> (!o, !row, i32) {
        %kt = wg.take %keys[%use] : !ring -> !t
        %sp = wg.mma %q by %kt transposed : !t by !t -> !wg.pending<!o>
        %s = wg.wait %sp : !wg.pending<!o> -> !o
        wg.release %keys[%use] : !ring
        %more = wg.reduce %s, %max : !o -> !row {
        ^bb0(%x: f32, %y: f32):
          %z = arith.maximumf %x, %y : f32
          wg.yield %z : f32
        }
        %p = wg.map %s, %more : !o, !row -> !half {
        ^bb0(%x: f32, %y: f32, %row: index, %column: index):
          %z = arith.subf %x, %y : f32
          %w = arith.truncf %z : f32 to bf16
          wg.yield %w : bf16
        }
        %scaled = wg.map %acc, %more : !o, !row -> !o {
        ^bb0(%x: f32, %y: f32, %row: index, %column: index):
          %z = arith.addf %x, %y : f32
          wg.yield %z : f32
        }
        %a = wg.operand_a %p : !half -> !a
        %vt = wg.take %values[%use] : !ring -> !t
        %op = wg.mma %a by %vt accumulate %scaled : !o, !a by !t -> !wg.pending<!o>
        %o = wg.wait %op : !wg.pending<!o> -> !o
        wg.release %values[%use] : !ring
        %next = arith.addi %use, %one : i32
        scf.yield %o, %more, %next : !o, !row, i32
      }
    wg.store %r1#0, %out count %c64 : !o, memref<64x64xf32>
  }
  return
}

// Somebody else wants the first one's result.
// CHECK-LABEL: func.func @read_between
// CHECK: scf.for
// CHECK-COUNT-2: wg.mma
// CHECK: }
// CHECK: wg.mma {{.*}} accumulate
// CHECK: %[[O:.*]] = wg.wait
// CHECK: wg.store
// CHECK: scf.for
// CHECK: wg.store
func.func @read_between(%keys: !ring, %values: !ring, %q: !t, %out: memref<64x64xf32>, %lo: index, %middle: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  wg.roles warpgroups 1 producer registers 40 {
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %acc0 = wg.splat %f : f32 -> !o
    %max0 = wg.splat %f : f32 -> !row
    %r0:3 = scf.for %j = %lo to %middle step %c64 iter_args(%acc = %acc0, %max = %max0, %use = %zero)
          -> (!o, !row, i32) {
        %kt = wg.take %keys[%use] : !ring -> !t
        %sp = wg.mma %q by %kt transposed : !t by !t -> !wg.pending<!o>
        %s = wg.wait %sp : !wg.pending<!o> -> !o
        wg.release %keys[%use] : !ring
        %more = wg.reduce %s, %max : !o -> !row {
        ^bb0(%x: f32, %y: f32):
          %z = arith.maximumf %x, %y : f32
          wg.yield %z : f32
        }
        %p = wg.map %s, %more : !o, !row -> !half {
        ^bb0(%x: f32, %y: f32, %row: index, %column: index):
          %z = arith.subf %x, %y : f32
          %w = arith.truncf %z : f32 to bf16
          wg.yield %w : bf16
        }
        %scaled = wg.map %acc, %more : !o, !row -> !o {
        ^bb0(%x: f32, %y: f32, %row: index, %column: index):
          %z = arith.mulf %x, %y : f32
          wg.yield %z : f32
        }
        %a = wg.operand_a %p : !half -> !a
        %vt = wg.take %values[%use] : !ring -> !t
        %op = wg.mma %a by %vt accumulate %scaled : !o, !a by !t -> !wg.pending<!o>
        %o = wg.wait %op : !wg.pending<!o> -> !o
        wg.release %values[%use] : !ring
        %next = arith.addi %use, %one : i32
        scf.yield %o, %more, %next : !o, !row, i32
      }
    wg.store %r0#0, %out count %c64 : !o, memref<64x64xf32>
    %r1:3 = scf.for %j = %middle to %hi step %c64 iter_args(%acc = %r0#0, %max = %r0#1, %use = %r0#2)
          -> (!o, !row, i32) {
        %kt = wg.take %keys[%use] : !ring -> !t
        %sp = wg.mma %q by %kt transposed : !t by !t -> !wg.pending<!o>
        %s = wg.wait %sp : !wg.pending<!o> -> !o
        wg.release %keys[%use] : !ring
        %more = wg.reduce %s, %max : !o -> !row {
        ^bb0(%x: f32, %y: f32):
          %z = arith.maximumf %x, %y : f32
          wg.yield %z : f32
        }
        %p = wg.map %s, %more : !o, !row -> !half {
        ^bb0(%x: f32, %y: f32, %row: index, %column: index):
          %z = arith.subf %x, %y : f32
          %w = arith.truncf %z : f32 to bf16
          wg.yield %w : bf16
        }
        %scaled = wg.map %acc, %more : !o, !row -> !o {
        ^bb0(%x: f32, %y: f32, %row: index, %column: index):
          %z = arith.mulf %x, %y : f32
          wg.yield %z : f32
        }
        %a = wg.operand_a %p : !half -> !a
        %vt = wg.take %values[%use] : !ring -> !t
        %op = wg.mma %a by %vt accumulate %scaled : !o, !a by !t -> !wg.pending<!o>
        %o = wg.wait %op : !wg.pending<!o> -> !o
        wg.release %values[%use] : !ring
        %next = arith.addi %use, %one : i32
        scf.yield %o, %more, %next : !o, !row, i32
      }
    wg.store %r1#0, %out count %c64 : !o, memref<64x64xf32>
  }
  return
}
