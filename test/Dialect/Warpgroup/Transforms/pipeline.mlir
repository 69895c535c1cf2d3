// Over a chain of loops, the second product of a tile goes behind the first product of the
// next one, and is waited for after the elementwise part of that. So the matrix unit has
// work meanwhile.

// RUN: mla-opt %s -mla-wg-pipeline -canonicalize -cse | FileCheck %s

!t = !wg.tile<64x64xbf16>
!ring = !wg.ring<2 x !t>
!o = !wg.fragment<64x64xf32, accumulator>
!row = !wg.fragment<64xf32, row>
!half = !wg.fragment<64x64xbf16, accumulator>
!a = !wg.fragment<64x64xbf16, operand_a>

// CHECK-LABEL: func.func @two
// CHECK-SAME: %[[KEYS:[a-z0-9]+]]: !wg.ring<2 x {{[^,]*}}>, %[[VALUES:[a-z0-9]+]]: !wg.ring<2 x {{[^,]*}}>, %[[Q:[a-z0-9]+]]: !wg.tile<64x64xbf16>, %{{.*}}: memref<64x64xf32>, %[[LO:[a-z0-9]+]]: index, %[[MIDDLE:[a-z0-9]+]]: index, %[[HI:[a-z0-9]+]]: index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[USE0:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[USE1:.*]] = arith.constant 1 : i32
// CHECK: %[[ACC0:.*]] = wg.splat {{.*}} -> <64x64xf32, accumulator>
// Which loops have tiles; the one with the first tile starts at its second.
// CHECK-DAG: %[[SOME:.*]] = arith.cmpi slt, %[[LO]], %[[MIDDLE]]
// CHECK-DAG: %[[MORE:.*]] = arith.cmpi slt, %[[MIDDLE]], %[[HI]]
// CHECK-DAG: %[[BEGIN:.*]] = arith.addi %[[LO]], %[[C64]]
// CHECK-DAG: %[[SECOND:.*]] = arith.addi %[[MIDDLE]], %[[C64]]
// CHECK-DAG: %[[BEGIN_MORE:.*]] = arith.select %[[SOME]], %[[MIDDLE]], %[[SECOND]]
// CHECK: %[[ANY:.*]] = arith.ori %[[SOME]], %[[MORE]]
// CHECK: %[[RESULT:.*]] = scf.if %[[ANY]]

// The first tile up to its second product's operand: of one loop or of the other.
// CHECK: scf.if %[[SOME]] -> ({{.*}}!wg.fragment<64x64xbf16, operand_a>) {
// CHECK: wg.take %[[KEYS]][%[[USE0]]]
// CHECK: wg.mma %[[Q]] by
// CHECK: wg.release %[[KEYS]][%[[USE0]]]
// CHECK: arith.negf
// CHECK: wg.operand_a
// CHECK-NOT: wg.take %[[VALUES]]
// CHECK: } else {
// CHECK: wg.mma %[[Q]] by
// CHECK-NOT: arith.negf
// CHECK: wg.operand_a
// CHECK: }

// Both loops: issue, issue, wait for the first, compute, wait for the second. The values
// are those of the tile before.
// CHECK: %[[R:.*]]:5 = scf.for %{{.*}} = %[[BEGIN]] to %[[MIDDLE]] step %[[C64]] iter_args(
// CHECK-SAME: %[[USE:[a-z0-9]+]] = %[[USE1]], %[[LAST_USE:[a-z0-9]+]] = %[[USE0]], %[[P:[a-z0-9]+]] = %{{[0-9]+#[0-9]}}) ->
// CHECK: %[[KT:.*]] = wg.take %[[KEYS]][%[[USE]]]
// CHECK: %[[SP:.*]] = wg.mma %[[Q]] by %[[KT]] transposed
// CHECK: %[[OP:.*]] = wg.mma %[[P]] by %{{.*}} accumulate
// CHECK: wg.wait %[[SP]]
// CHECK-NEXT: wg.release %[[KEYS]][%[[USE]]]
// CHECK: arith.negf
// CHECK: wg.reduce
// CHECK: %[[O:.*]] = wg.wait %[[OP]]
// CHECK-NEXT: wg.release %[[VALUES]][%[[LAST_USE]]]
// What becomes the next product's operand comes last: until the product is there, it
// reads the registers of the operand before.
// CHECK-NEXT: wg.map
// CHECK: arith.truncf
// CHECK: %[[P1:.*]] = wg.operand_a
// CHECK: scf.yield %{{.*}}, %[[USE]], %[[P1]]
// CHECK: %[[T:.*]]:5 = scf.for %{{.*}} = %[[BEGIN_MORE]] to %[[HI]] step %[[C64]] iter_args(%{{.*}} = %[[R]]#0, %{{.*}} = %[[R]]#1, %{{.*}} = %[[R]]#2, %{{.*}} = %[[R]]#3, %{{.*}} = %[[R]]#4)
// CHECK: wg.mma
// CHECK: wg.mma
// CHECK: wg.wait
// CHECK-NOT: arith.negf
// CHECK: wg.wait
// CHECK: scf.yield

// The last tile's second product.
// CHECK: %[[VT:.*]] = wg.take %[[VALUES]][%[[T]]#3]
// CHECK: %[[OP:.*]] = wg.mma %[[T]]#4 by %[[VT]] accumulate
// CHECK: %[[O:.*]] = wg.wait %[[OP]]
// CHECK: wg.release %[[VALUES]][%[[T]]#3]
// CHECK: scf.yield %[[O]]
// Without any tile nothing is touched.
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[ACC0]]
// CHECK-NEXT: }
// CHECK-NEXT: wg.store %[[RESULT]]
func.func @two(%keys: !ring, %values: !ring, %q: !t, %out: memref<64x64xf32>, %lo: index, %middle: index, %hi: index) {
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
