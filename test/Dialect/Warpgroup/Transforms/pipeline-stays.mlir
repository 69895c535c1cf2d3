// Loops without a part that only the accumulator depends on stay as they are.

// RUN: mla-opt %s -mla-wg-pipeline -canonicalize -cse | FileCheck %s --implicit-check-not=scf.if

!t = !wg.tile<64x64xbf16>
!ring = !wg.ring<2 x !t>
!one = !wg.ring<1 x !t>
!o = !wg.fragment<64x64xf32, accumulator>
!row = !wg.fragment<64xf32, row>
!half = !wg.fragment<64x64xbf16, accumulator>
!a = !wg.fragment<64x64xbf16, operand_a>

// Another carried value depends on it.
// CHECK-LABEL: func.func @carried
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c64 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) ->
func.func @carried(%keys: !ring, %values: !ring, %q: !t, %out: memref<64x64xf32>, %lo: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  wg.roles warpgroups 1 producer registers 40 {
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %acc0 = wg.splat %f : f32 -> !o
    %max0 = wg.splat %f : f32 -> !row
    %r0:3 = scf.for %j = %lo to %hi step %c64 iter_args(%acc = %acc0, %max = %max0, %use = %zero)
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
        %top = wg.reduce %o, %more : !o -> !row {
        ^bb0(%x: f32, %y: f32):
          %z = arith.maximumf %x, %y : f32
          wg.yield %z : f32
        }
        scf.yield %o, %top, %next : !o, !row, i32
      }
    wg.store %r0#0, %out count %c64 : !o, memref<64x64xf32>
  }
  return
}

// One product alone has nothing to go behind.
// CHECK-LABEL: func.func @one_product
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c64 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) ->
func.func @one_product(%keys: !ring, %values: !ring, %q: !t, %out: memref<64x64xf32>, %lo: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  wg.roles warpgroups 1 producer registers 40 {
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %acc0 = wg.splat %f : f32 -> !o
    %max0 = wg.splat %f : f32 -> !row
    %r0:2 = scf.for %j = %lo to %hi step %c64 iter_args(%acc = %acc0, %use = %zero) -> (!o, i32) {
        %kt = wg.take %keys[%use] : !ring -> !t
        %sp = wg.mma %q by %kt accumulate %acc : !o, !t by !t -> !wg.pending<!o>
        %s = wg.wait %sp : !wg.pending<!o> -> !o
        wg.release %keys[%use] : !ring
        %next = arith.addi %use, %one : i32
        scf.yield %s, %next : !o, i32
      }
    wg.store %r0#0, %out count %c64 : !o, memref<64x64xf32>
  }
  return
}

// Rows of a tile of values are cleared while the tile before is still in use: a ring of one
// slot never gets there.
// CHECK-LABEL: func.func @one_slot
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c64 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) ->
func.func @one_slot(%keys: !ring, %values: !one, %q: !t, %out: memref<64x64xf32>, %lo: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  wg.roles warpgroups 1 producer registers 40 {
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %acc0 = wg.splat %f : f32 -> !o
    %max0 = wg.splat %f : f32 -> !row
    %r0:3 = scf.for %j = %lo to %hi step %c64 iter_args(%acc = %acc0, %max = %max0, %use = %zero)
          -> (!o, !row, i32) {
        %count = arith.subi %hi, %j : index
        wg.clear_rows %values[%use] element 0 from %count : !one
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
        %vt = wg.take %values[%use] : !one -> !t
        %op = wg.mma %a by %vt accumulate %scaled : !o, !a by !t -> !wg.pending<!o>
        %o = wg.wait %op : !wg.pending<!o> -> !o
        wg.release %values[%use] : !one
        %next = arith.addi %use, %one : i32
        scf.yield %o, %more, %next : !o, !row, i32
      }
    wg.store %r0#0, %out count %c64 : !o, memref<64x64xf32>
  }
  return
}

// Nobody's roles, nobody's loops.
// CHECK-LABEL: func.func @no_roles
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c64 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) ->
func.func @no_roles(%keys: !ring, %values: !ring, %q: !t, %out: memref<64x64xf32>, %lo: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %acc0 = wg.splat %f : f32 -> !o
    %max0 = wg.splat %f : f32 -> !row
    %r0:3 = scf.for %j = %lo to %hi step %c64 iter_args(%acc = %acc0, %max = %max0, %use = %zero)
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
  return
}
