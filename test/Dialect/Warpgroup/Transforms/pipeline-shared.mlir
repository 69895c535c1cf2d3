// Tiles that all of a chain's first products read, and nothing else does, are given back
// behind the last of them: the next item's can be on their way while this one's second
// products are not done.

// RUN: mla-opt %s -mla-wg-pipeline -canonicalize -cse | FileCheck %s

!t = !wg.tile<64x64xbf16>
!ring = !wg.ring<2 x !t>
!o = !wg.fragment<64x64xf32, accumulator>
!row = !wg.fragment<64xf32, row>
!half = !wg.fragment<64x64xbf16, accumulator>
!a = !wg.fragment<64x64xbf16, operand_a>

// CHECK-LABEL: func.func @shared
// CHECK-SAME: %{{[a-z0-9]+}}: !wg.ring<2 x {{[^,]*}}>, %{{[a-z0-9]+}}: !wg.ring<2 x {{[^,]*}}>, %[[QUERIES:[a-z0-9]+]]: !wg.ring<2 x {{[^,]*}}>
// CHECK: wg.take %[[QUERIES]]
// Each iteration knows whether it is the last one.
// CHECK-COUNT-2: wg.release %[[QUERIES]][%{{.*}}] when %{{.*}} :
// CHECK: scf.for
// CHECK: wg.mma
// CHECK: wg.mma
// CHECK: wg.wait
// CHECK: wg.release %[[QUERIES]][%{{.*}}] when %{{.*}} :
// CHECK: wg.wait
// CHECK: scf.for
// CHECK: wg.wait
// CHECK: wg.release %[[QUERIES]][%{{.*}}] when
// CHECK: wg.wait
// Without a tile, at once.
// CHECK: } else {
// CHECK: wg.release %[[QUERIES]][%{{[a-z0-9_]+}}] :
// CHECK-NOT: wg.release
// CHECK: wg.store
func.func @shared(%keys: !ring, %values: !ring, %queries: !ring, %out: memref<64x64xf32>, %lo: index, %middle: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  wg.roles warpgroups 1 producer registers 40 {
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %q = wg.take %queries[%zero] : !ring -> !t
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
    wg.release %queries[%zero] : !ring
    wg.store %r1#0, %out count %c64 : !o, memref<64x64xf32>
  }
  return
}

// Who reads it once more, gives it back.
// CHECK-LABEL: func.func @read_later
// CHECK-SAME: %{{[a-z0-9]+}}: !wg.ring<2 x {{[^,]*}}>, %{{[a-z0-9]+}}: !wg.ring<2 x {{[^,]*}}>, %[[QUERIES:[a-z0-9]+]]: !wg.ring<2 x {{[^,]*}}>
// CHECK-NOT: wg.release %[[QUERIES]]
// CHECK: wg.store
// CHECK: wg.release %[[QUERIES]][%{{[a-z0-9_]+}}] :
func.func @read_later(%keys: !ring, %values: !ring, %queries: !ring, %out: memref<64x64xf32>, %lo: index, %middle: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  wg.roles warpgroups 1 producer registers 40 {
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %q = wg.take %queries[%zero] : !ring -> !t
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
    %again = wg.mma %q by %q accumulate %r1#0 : !o, !t by !t -> !wg.pending<!o>
    %sum = wg.wait %again : !wg.pending<!o> -> !o
    wg.store %sum, %out count %c64 : !o, memref<64x64xf32>
    wg.release %queries[%zero] : !ring
  }
  return
}
