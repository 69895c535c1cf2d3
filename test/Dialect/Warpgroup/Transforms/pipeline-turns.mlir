// Warpgroups issue the first product of a chain in turns: they start half an iteration
// apart, and stay so without turns in the loop. They take the tile first: a turn is not
// spent waiting for copies.

// RUN: mla-opt %s -mla-wg-pipeline -canonicalize -cse > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: mla-opt %s -mla-wg-pipeline=turns=false -canonicalize -cse \
// RUN:   | FileCheck %s --check-prefix=WITHOUT --implicit-check-not=_turn
// What is pipelined is pipelined once.
// RUN: mla-opt %t.mlir -mla-wg-pipeline -canonicalize -cse | diff - %t.mlir

!t = !wg.tile<64x64xbf16>
!q = !wg.tile<128x64xbf16>
!ring = !wg.ring<2 x !t>
!o = !wg.fragment<128x64xf32, accumulator>
!row = !wg.fragment<128xf32, row>
!half = !wg.fragment<128x64xbf16, accumulator>
!a = !wg.fragment<128x64xbf16, operand_a>

// Whoever comes first, the first warpgroup begins.
// CHECK-LABEL: func.func @two
// CHECK-SAME: %[[KEYS:[a-z0-9]+]]: !wg.ring<2 x {{[^,]*}}>, %[[VALUES:[a-z0-9]+]]: !wg.ring
// CHECK: } consumer registers 232 {
// CHECK-NEXT: wg.start_turns
// CHECK-NOT: _turn
// CHECK: scf.if
// CHECK-NEXT: wg.take %[[KEYS]]
// CHECK-NEXT: wg.await_turn
// CHECK-NEXT: %[[FIRST:.*]] = wg.mma {{.*}} transposed
// CHECK-NEXT: wg.pass_turn
// CHECK-NEXT: wg.wait %[[FIRST]]
// Not the loop's, nor the last product.
// CHECK-NOT: _turn
// CHECK: scf.for
// CHECK-NEXT: wg.take %[[KEYS]]
// CHECK-NEXT: wg.mma {{.*}} transposed
// CHECK-NOT: {{_turn|wg.wait}}
// CHECK: wg.take %[[VALUES]]
// CHECK-NEXT: wg.mma {{.*}} accumulate
// CHECK-NEXT: wg.wait
// CHECK-NOT: _turn
// CHECK: scf.yield
// CHECK-NOT: _turn
// CHECK: wg.mma {{.*}} accumulate
// CHECK-NOT: _turn
// CHECK: } {wg.pipelined}

// WITHOUT-LABEL: func.func @two
// WITHOUT: scf.for
// WITHOUT: wg.take
// WITHOUT-NEXT: wg.mma {{.*}} transposed
// WITHOUT: wg.take
// WITHOUT-NEXT: wg.mma {{.*}} accumulate
// WITHOUT: } {wg.pipelined}
func.func @two(%keys: !ring, %values: !ring, %q: !q, %out: memref<128x64xf32>,
    %lo: index, %hi: index) {
  %c64 = arith.constant 64 : index
  %rows = arith.constant 128 : index
  wg.roles warpgroups 2 producer registers 40 {
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %acc0 = wg.splat %f : f32 -> !o
    %max0 = wg.splat %f : f32 -> !row
    %r0:3 = scf.for %j = %lo to %hi step %c64 iter_args(%acc = %acc0, %max = %max0, %use = %zero)
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
    wg.store %r0#0, %out count %rows : !o, memref<128x64xf32>
  }
  return
}

// Two loops of one chain: the first product is one of the first loop that has a tile.
// CHECK-LABEL: func.func @chain
// CHECK: wg.start_turns
// CHECK-NOT: _turn
// CHECK: scf.if
// CHECK-NOT: _turn
// CHECK: scf.if
// CHECK-NOT: _turn
// CHECK: wg.take
// CHECK-NEXT: wg.await_turn
// CHECK-NEXT: wg.mma {{.*}} transposed
// CHECK-NEXT: wg.pass_turn
// CHECK-NOT: _turn
// CHECK: } else {
// CHECK-NOT: {{_turn|scf.if}}
// CHECK: wg.take
// CHECK-NEXT: wg.await_turn
// CHECK-NEXT: wg.mma {{.*}} transposed
// CHECK-NEXT: wg.pass_turn
// CHECK-NOT: _turn
// CHECK: scf.for
// CHECK-NOT: _turn
// CHECK: scf.for
// CHECK-NOT: _turn
// CHECK: } {wg.pipelined}
func.func @chain(%keys: !ring, %values: !ring, %q: !q, %out: memref<128x64xf32>,
    %lo: index, %mid: index, %hi: index) {
  %c64 = arith.constant 64 : index
  %rows = arith.constant 128 : index
  wg.roles warpgroups 2 producer registers 40 {
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %acc0 = wg.splat %f : f32 -> !o
    %max0 = wg.splat %f : f32 -> !row
    %r0:3 = scf.for %j = %lo to %mid step %c64 iter_args(%acc = %acc0, %max = %max0, %use = %zero)
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
    %r1:3 = scf.for %j = %mid to %hi step %c64 iter_args(%acc = %r0#0, %max = %r0#1, %use = %r0#2)
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
    wg.store %r1#0, %out count %rows : !o, memref<128x64xf32>
  }
  return
}

// Nobody to take turns with.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: _turn
// CHECK: } {wg.pipelined}
func.func @alone(%keys: !ring, %values: !ring, %q: !q, %out: memref<128x64xf32>,
    %lo: index, %hi: index) {
  %c64 = arith.constant 64 : index
  %rows = arith.constant 128 : index
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
        %sp = wg.mma %q by %kt transposed : !q by !t -> !wg.pending<!o>
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
    wg.store %r0#0, %out count %rows : !o, memref<128x64xf32>
  }
  return
}

// Nothing overlaps, so nothing is ordered.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: _turn
// CHECK-NOT: wg.pipelined
func.func @stays(%keys: !ring, %values: !ring, %q: !q, %out: memref<128x64xf32>,
    %lo: index, %hi: index) {
  %c64 = arith.constant 64 : index
  %rows = arith.constant 128 : index
  wg.roles warpgroups 2 producer registers 40 {
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %acc0 = wg.splat %f : f32 -> !o
    %max0 = wg.splat %f : f32 -> !row
    %r0:2 = scf.for %j = %lo to %hi step %c64 iter_args(%acc = %acc0, %use = %zero) -> (!o, i32) {
        %kt = wg.take %keys[%use] : !ring -> !t
        %sp = wg.mma %q by %kt accumulate %acc : !o, !q by !t -> !wg.pending<!o>
        %s = wg.wait %sp : !wg.pending<!o> -> !o
        wg.release %keys[%use] : !ring
        %next = arith.addi %use, %one : i32
        scf.yield %s, %next : !o, i32
      }
    wg.store %r0#0, %out count %rows : !o, memref<128x64xf32>
  }
  return
}
