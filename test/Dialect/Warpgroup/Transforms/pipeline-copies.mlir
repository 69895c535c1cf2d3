// The producer copies in the order in which consumers need tiles and give slots back: the
// values of a tile behind the keys of the next one. It waits for one slot at a time.

// RUN: mla-opt %s -mla-wg-pipeline -canonicalize -cse | FileCheck %s

!t = !wg.tile<64x64xbf16>
!ring = !wg.ring<2 x !t>
!map = !wg.tensor_map<64x64xbf16>
!o = !wg.fragment<64x64xf32, accumulator>
!half = !wg.fragment<64x64xbf16, accumulator>
!a = !wg.fragment<64x64xbf16, operand_a>

// CHECK-LABEL: func.func @copies
// CHECK-SAME: %[[KEYS:[a-z0-9]+]]: !wg.ring<2 x {{[^,]*}}>, %[[VALUES:[a-z0-9]+]]: !wg.ring<2 x {{[^,]*}}>, %[[KMAP:[a-z0-9]+]]: !wg.tensor_map<64x64xbf16>, %[[VMAP:[a-z0-9]+]]: !wg.tensor_map<64x64xbf16>
// CHECK: wg.roles
// Where a tile starts goes along to the next iteration, of either loop.
// CHECK: %[[A:.*]]:3 = scf.for %[[J:.*]] = %{{.*}} iter_args(%[[USE:.*]] = %c0_i32, %[[OLD_USE:.*]] = %{{.*}}, %[[OLD_ROW:.*]] = %{{.*}}) -> (i32, i32, i32) {
// CHECK-DAG: %[[ROW:.*]] = arith.index_cast %[[J]]
// CHECK-DAG: wg.acquire %[[KEYS]][%[[USE]]]
// CHECK: wg.copy_box %[[KMAP]][%[[ROW]], %c0_i32] to %[[KEYS]][%[[USE]]]
// CHECK: wg.commit %[[KEYS]][%[[USE]]]
// CHECK: %[[HAS_OLD:.*]] = arith.cmpi ne, %[[USE]], %c0_i32
// CHECK: scf.if %[[HAS_OLD]] {
// CHECK-NEXT: wg.acquire %[[VALUES]][%[[OLD_USE]]]
// CHECK-NEXT: wg.copy_box %[[VMAP]][%[[OLD_ROW]], %c0_i32] to %[[VALUES]][%[[OLD_USE]]]
// CHECK-NEXT: wg.commit %[[VALUES]][%[[OLD_USE]]]
// CHECK-NEXT: }
// CHECK: scf.yield %{{.*}}, %[[USE]], %[[ROW]]
// CHECK: %[[B:.*]]:3 = scf.for %{{.*}} iter_args(%[[USE:.*]] = %[[A]]#0, %{{.*}} = %[[A]]#1, %{{.*}} = %[[A]]#2)
// CHECK: wg.commit %[[KEYS]]
// CHECK: arith.cmpi ne, %[[USE]], %c0_i32
// CHECK: wg.acquire %[[VALUES]]
// CHECK: }
// The last tile's, if there was any.
// CHECK: %[[ANY:.*]] = arith.cmpi ne, %[[B]]#0, %c0_i32
// CHECK: scf.if %[[ANY]] {
// CHECK-NEXT: wg.acquire %[[VALUES]][%[[B]]#1]
// CHECK-NEXT: wg.copy_box %[[VMAP]][%[[B]]#2, %c0_i32] to %[[VALUES]][%[[B]]#1]
// CHECK-NEXT: wg.commit %[[VALUES]][%[[B]]#1]
// CHECK-NEXT: }
// CHECK: } consumer
func.func @copies(%keys: !ring, %values: !ring, %kmap: !map, %vmap: !map, %q: !t,
    %out: memref<64x64xf32>, %middle: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  wg.roles warpgroups 1 producer registers 40 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %p0 = scf.for %j = %c0 to %middle step %c64 iter_args(%use = %zero) -> (i32) {
      %row = arith.index_cast %j : index to i32
      wg.acquire %keys[%use] : !ring
      wg.copy_box %kmap[%row, %zero] to %keys[%use] element 0 column 0 : !map, !ring
      wg.commit %keys[%use] : !ring
      wg.acquire %values[%use] : !ring
      wg.copy_box %vmap[%row, %zero] to %values[%use] element 0 column 0 : !map, !ring
      wg.commit %values[%use] : !ring
      %next = arith.addi %use, %one : i32
      scf.yield %next : i32
    }
    %p1 = scf.for %j = %middle to %hi step %c64 iter_args(%use = %p0) -> (i32) {
      %row = arith.index_cast %j : index to i32
      wg.acquire %keys[%use] : !ring
      wg.copy_box %kmap[%row, %zero] to %keys[%use] element 0 column 0 : !map, !ring
      wg.commit %keys[%use] : !ring
      wg.acquire %values[%use] : !ring
      wg.copy_box %vmap[%row, %zero] to %values[%use] element 0 column 0 : !map, !ring
      wg.commit %values[%use] : !ring
      %next = arith.addi %use, %one : i32
      scf.yield %next : i32
    }
  } consumer registers 232 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %acc0 = wg.splat %f : f32 -> !o
    %r0:2 = scf.for %j = %c0 to %middle step %c64 iter_args(%acc = %acc0, %use = %zero) -> (!o, i32) {
      %kt = wg.take %keys[%use] : !ring -> !t
      %sp = wg.mma %q by %kt transposed : !t by !t -> !wg.pending<!o>
      %s = wg.wait %sp : !wg.pending<!o> -> !o
      wg.release %keys[%use] : !ring
      %p = wg.map %s : !o -> !half {
      ^bb0(%x: f32, %row: index, %column: index):
        %y = arith.truncf %x : f32 to bf16
        wg.yield %y : bf16
      }
      %a = wg.operand_a %p : !half -> !a
      %vt = wg.take %values[%use] : !ring -> !t
      %op = wg.mma %a by %vt accumulate %acc : !o, !a by !t -> !wg.pending<!o>
      %o = wg.wait %op : !wg.pending<!o> -> !o
      wg.release %values[%use] : !ring
      %next = arith.addi %use, %one : i32
      scf.yield %o, %next : !o, i32
    }
    %r1:2 = scf.for %j = %middle to %hi step %c64 iter_args(%acc = %r0#0, %use = %r0#1) -> (!o, i32) {
      %kt = wg.take %keys[%use] : !ring -> !t
      %sp = wg.mma %q by %kt transposed : !t by !t -> !wg.pending<!o>
      %s = wg.wait %sp : !wg.pending<!o> -> !o
      wg.release %keys[%use] : !ring
      %p = wg.map %s : !o -> !half {
      ^bb0(%x: f32, %row: index, %column: index):
        %y = arith.truncf %x : f32 to bf16
        wg.yield %y : bf16
      }
      %a = wg.operand_a %p : !half -> !a
      %vt = wg.take %values[%use] : !ring -> !t
      %op = wg.mma %a by %vt accumulate %acc : !o, !a by !t -> !wg.pending<!o>
      %o = wg.wait %op : !wg.pending<!o> -> !o
      wg.release %values[%use] : !ring
      %next = arith.addi %use, %one : i32
      scf.yield %o, %next : !o, i32
    }
    wg.store %r1#0, %out count %c64 : !o, memref<64x64xf32>
  }
  return
}
