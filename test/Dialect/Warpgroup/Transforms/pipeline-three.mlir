// A chain of three loops: the first tile is that of the first one that has any, and each
// loop skips it if it is its own.

// RUN: mla-opt %s -mla-wg-pipeline -canonicalize -cse | FileCheck %s

!t = !wg.tile<64x64xbf16>
!ring = !wg.ring<2 x !t>
!o = !wg.fragment<64x64xf32, accumulator>
!row = !wg.fragment<64xf32, row>
!half = !wg.fragment<64x64xbf16, accumulator>
!a = !wg.fragment<64x64xbf16, operand_a>

// CHECK-LABEL: func.func @three
// CHECK-SAME: %[[LO:[a-z0-9]+]]: index, %[[FIRST:[a-z0-9]+]]: index, %[[SECOND:[a-z0-9]+]]: index, %[[HI:[a-z0-9]+]]: index)
// CHECK-DAG: %[[SOME0:.*]] = arith.cmpi slt, %[[LO]], %[[FIRST]]
// CHECK-DAG: %[[SOME1:.*]] = arith.cmpi slt, %[[FIRST]], %[[SECOND]]
// CHECK-DAG: %[[SOME2:.*]] = arith.cmpi slt, %[[SECOND]], %[[HI]]
// CHECK-DAG: %[[ANY1:.*]] = arith.ori %[[SOME0]], %[[SOME1]]
// CHECK-DAG: %[[ANY:.*]] = arith.ori %[[ANY1]], %[[SOME2]]
// CHECK-DAG: %[[NEXT0:.*]] = arith.addi %[[LO]], %c64
// CHECK-DAG: %[[NEXT1:.*]] = arith.addi %[[FIRST]], %c64
// CHECK-DAG: %[[NEXT2:.*]] = arith.addi %[[SECOND]], %c64
// CHECK-DAG: %[[BEGIN1:.*]] = arith.select %[[SOME0]], %[[FIRST]], %[[NEXT1]]
// CHECK-DAG: %[[BEGIN2:.*]] = arith.select %[[ANY1]], %[[SECOND]], %[[NEXT2]]
// CHECK: scf.if %[[ANY]]
// CHECK: scf.if %[[SOME0]]
// CHECK: arith.negf
// CHECK: } else {
// CHECK: scf.if %[[SOME1]]
// CHECK-NOT: arith.negf
// CHECK: } else {
// CHECK: arith.negf
// CHECK: scf.for %{{.*}} = %[[NEXT0]] to %[[FIRST]]
// CHECK: scf.for %{{.*}} = %[[BEGIN1]] to %[[SECOND]]
// CHECK: scf.for %{{.*}} = %[[BEGIN2]] to %[[HI]]
// Two products in it, and one is left over at the end.
// CHECK-COUNT-3: wg.mma
// CHECK-NOT: wg.mma
// CHECK: wg.store
func.func @three(%keys: !ring, %values: !ring, %q: !t, %out: memref<64x64xf32>, %lo: index, %first: index, %second: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  wg.roles warpgroups 1 producer registers 40 {
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %acc0 = wg.splat %f : f32 -> !o
    %max0 = wg.splat %f : f32 -> !row
    %r0:3 = scf.for %j = %lo to %first step %c64 iter_args(%acc = %acc0, %max = %max0, %use = %zero)
          -> (!o, !row, i32) {
        %kt = wg.take %keys[%use] : !ring -> !t
        %sp = wg.mma %q by %kt transposed : !t by !t -> !wg.pending<!o>
        %s = wg.wait %sp : !wg.pending<!o> -> !o
        wg.release %keys[%use] : !ring
        %masked = wg.map %s : !o -> !o {
        ^bb0(%x: f32, %row: index, %column: index):
          %z = arith.negf %x : f32
          wg.yield %z : f32
        }
        %more = wg.reduce %masked, %max : !o -> !row {
        ^bb0(%x: f32, %y: f32):
          %z = arith.maximumf %x, %y : f32
          wg.yield %z : f32
        }
        %p = wg.map %masked, %more : !o, !row -> !half {
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
    %r1:3 = scf.for %j = %first to %second step %c64 iter_args(%acc = %r0#0, %max = %r0#1, %use = %r0#2)
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
    %r2:3 = scf.for %j = %second to %hi step %c64 iter_args(%acc = %r1#0, %max = %r1#1, %use = %r1#2)
          -> (!o, !row, i32) {
        %kt = wg.take %keys[%use] : !ring -> !t
        %sp = wg.mma %q by %kt transposed : !t by !t -> !wg.pending<!o>
        %s = wg.wait %sp : !wg.pending<!o> -> !o
        wg.release %keys[%use] : !ring
        %masked = wg.map %s : !o -> !o {
        ^bb0(%x: f32, %row: index, %column: index):
          %z = arith.negf %x : f32
          wg.yield %z : f32
        }
        %more = wg.reduce %masked, %max : !o -> !row {
        ^bb0(%x: f32, %y: f32):
          %z = arith.maximumf %x, %y : f32
          wg.yield %z : f32
        }
        %p = wg.map %masked, %more : !o, !row -> !half {
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
    wg.store %r2#0, %out count %c64 : !o, memref<64x64xf32>
  }
  return
}
