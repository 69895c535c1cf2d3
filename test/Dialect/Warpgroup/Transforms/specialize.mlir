// An item's work is parted: a producer finds items, sends the scalars that the others
// need and copies tiles into rings; consumers take the tiles and do the rest. Both keep
// the loop, and so make the same number of uses.

// RUN: mla-opt %s -mla-wg-specialize -canonicalize -cse | FileCheck %s

!m = memref<?x4x64xbf16, strided<[?, ?, 1], offset: ?>>
!rows = memref<64x64xbf16, strided<[?, 1], offset: ?>>
!tile = !wg.tile<64x64xbf16>
!acc = !wg.fragment<64x64xf32, accumulator>

// CHECK-LABEL: func.func @item
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x4x64xbf16, {{[^>]*}}>>, %[[K:[a-z0-9]+]]: memref<?x4x64xbf16, {{[^>]*}}>>, %[[V:[a-z0-9]+]]: memref<?x4x64xbf16, {{[^>]*}}>>, %[[OUT:[a-z0-9]+]]: memref<?x4x64xf32>, %[[STARTS:[a-z0-9]+]]: memref<?xindex>, %[[N:[a-z0-9]+]]: index, %[[KEYS:[a-z0-9]+]]: index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32

// Maps are made on the host, with the operands' names.
// CHECK-DAG: %[[Q_MAP:.*]] = wg.tensor_map %[[Q]] operand "q" : {{.*}} -> <64x1x64xbf16>
// CHECK-DAG: %[[K_MAP:.*]] = wg.tensor_map %[[K]] operand "argument 1" : {{.*}} -> <64x1x64xbf16>
// CHECK-DAG: %[[V_MAP:.*]] = wg.tensor_map %[[V]] operand "v" : {{.*}} -> <64x1x64xbf16>

// As many blocks as fit the device, for all items together.
// CHECK: %[[ITEMS:.*]] = arith.muli %[[N]], %[[C4]]
// CHECK: scf.forall (%[[BLOCK:.*]]) in (%[[ITEMS]]) {
// A ring of one slot for the item's tile, of as many as the schedule says for the loop's.
// CHECK-DAG: %[[Q_RING:.*]] = wg.ring consumers 1 : <1 x !wg.tile<64x64xbf16>>
// CHECK-DAG: %[[K_RING:.*]] = wg.ring consumers 1 : <3 x !wg.tile<64x64xbf16>>
// CHECK-DAG: %[[V_RING:.*]] = wg.ring consumers 1 : <3 x !wg.tile<64x64xbf16>>
// Row and head of the item go through a ring of their own, with whether there is one.
// CHECK-DAG: %[[RECORDS:.*]] = wg.ring consumers 1 : <2 x index, index, i1>

// CHECK: wg.roles warpgroups 1 producer registers 24 {
// CHECK: scf.while (%[[ITEM:.*]] = %[[BLOCK]], %[[ITEM_USE:.*]] = %[[ZERO]], %[[USE:.*]] = %[[ZERO]])
// CHECK: arith.cmpi ult, %[[ITEM]], %[[ITEMS]]
// CHECK: ^bb0(%[[ITEM:.*]]: index, %[[ITEM_USE:.*]]: i32, %[[USE0:.*]]: i32):
// Heads vary fastest.
// CHECK-DAG: %[[I:.*]] = arith.divui %[[ITEM]], %[[C4]]
// CHECK-DAG: %[[H:.*]] = arith.remui %[[ITEM]], %[[C4]]
// CHECK-DAG: %[[ROW:.*]] = arith.muli %[[I]], %[[C64]]
// CHECK-DAG: %[[START:.*]] = memref.load %[[STARTS]][%[[I]]]
// CHECK: wg.acquire %[[RECORDS]][%[[ITEM_USE]]]
// CHECK: wg.put %[[H]], %[[ROW]], %true to %[[RECORDS]][%[[ITEM_USE]]]
// CHECK: wg.commit %[[RECORDS]][%[[ITEM_USE]]]
// CHECK: %[[USES:.*]] = scf.for %[[J:.*]] = %[[C0]] to %[[KEYS]] step %[[C64]] iter_args(%[[USE:.*]] = %[[USE0]]) -> (i32) {
// CHECK: wg.acquire %[[K_RING]][%[[USE]]]
// CHECK: wg.copy_box %[[K_MAP]][%{{.*}}, %{{.*}}, %[[ZERO]]] to %[[K_RING]][%[[USE]]] element 0 column 0
// CHECK: wg.commit %[[K_RING]][%[[USE]]]
// The item's own tile is behind the first of the loop's, whose slot is free earlier.
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[USE]], %[[USE0]]
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK: wg.acquire %[[Q_RING]][%[[ITEM_USE]]]
// CHECK: wg.copy_box %[[Q_MAP]]
// CHECK: wg.commit %[[Q_RING]][%[[ITEM_USE]]]
// CHECK: }
// CHECK: wg.acquire %[[V_RING]][%[[USE]]]
// CHECK: wg.copy_box %[[V_MAP]]
// CHECK: wg.commit %[[V_RING]][%[[USE]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[USE]], %[[ONE]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: }
// The next item's number is on its way meanwhile.
// CHECK: %[[CLAIMED:.*]] = wg.claim
// An item without keys has its own tile all the same, or the consumers would wait.
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[USES]], %[[USE0]]
// CHECK: scf.if %[[NONE]] {
// CHECK: wg.acquire %[[Q_RING]][%[[ITEM_USE]]]
// CHECK: wg.copy_box %[[Q_MAP]]
// CHECK: wg.commit %[[Q_RING]][%[[ITEM_USE]]]
// CHECK: }
// CHECK: %[[NEXT_ITEM:.*]] = arith.addi %[[ITEM_USE]], %[[ONE]]
// CHECK: scf.yield %[[CLAIMED]], %[[NEXT_ITEM]], %[[USES]]
// At the end consumers hear that there is none.
// CHECK: wg.acquire %[[RECORDS]]
// CHECK: wg.put %[[C0]], %[[C0]], %false to %[[RECORDS]]
// CHECK: wg.commit %[[RECORDS]]
// CHECK: wg.retire

// CHECK: } consumer registers 240 {
// CHECK: scf.while (%[[ITEM_USE:.*]] = %[[ZERO]], %[[USE:.*]] = %[[ZERO]])
// CHECK: %[[R:.*]]:3 = wg.take %[[RECORDS]][%[[ITEM_USE]]]
// CHECK: wg.release %[[RECORDS]][%[[ITEM_USE]]]
// CHECK: scf.condition(%[[R]]#2) %[[ITEM_USE]], %[[USE]], %[[R]]#0, %[[R]]#1
// CHECK: ^bb0(%[[ITEM_USE:.*]]: i32, %[[USE0:.*]]: i32, %[[H:.*]]: index, %[[ROW:.*]]: index):
// CHECK-NOT: memref.load
// CHECK: %[[QT:.*]] = wg.take %[[Q_RING]][%[[ITEM_USE]]]
// CHECK: %[[F:.*]]:2 = scf.for %{{.*}} = %[[C0]] to %[[KEYS]] step %[[C64]] iter_args(%[[ACC:.*]] = %{{.*}}, %[[USE:.*]] = %[[USE0]])
// Given back once it has been waited for.
// CHECK: %[[KT:.*]] = wg.take %[[K_RING]][%[[USE]]]
// CHECK: %[[SP:.*]] = wg.mma %[[QT]] by %[[KT]] transposed
// CHECK: wg.wait %[[SP]]
// CHECK-NEXT: wg.release %[[K_RING]][%[[USE]]]
// CHECK: wg.map
// CHECK: %[[VT:.*]] = wg.take %[[V_RING]][%[[USE]]]
// CHECK: %[[OP:.*]] = wg.mma %{{.*}} by %[[VT]] accumulate %[[ACC]]
// CHECK: wg.wait %[[OP]]
// CHECK-NEXT: wg.release %[[V_RING]][%[[USE]]]
// CHECK: arith.addi %[[USE]], %[[ONE]]
// CHECK: }
// CHECK-NEXT: wg.release %[[Q_RING]][%[[ITEM_USE]]]
// CHECK: memref.subview %[[OUT]][%[[ROW]], %[[H]], 0]
// CHECK: wg.store
// CHECK: arith.addi %[[ITEM_USE]], %[[ONE]]
// CHECK: {wg.resident}
// CHECK-NOT: mla.role_schedule
func.func @item(%q: !m, %k: !m, %v: !m, %out: memref<?x4x64xf32>, %starts: memref<?xindex>,
    %n: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %h) in (%n, 4) {
    %row = arith.muli %i, %c64 : index
    %start = memref.load %starts[%i] : memref<?xindex>
    %qs = memref.subview %q[%row, %h, 0] [64, 1, 64] [1, 1, 1] : !m to !rows
    %qt = wg.load %qs {mla.operand = "q"} : !rows -> !tile
    %init = wg.splat %zero : f32 -> !acc
    %r = scf.for %j = %c0 to %keys step %c64 iter_args(%acc = %init) -> (!acc) {
      %key = arith.addi %start, %j : index
      %ks = memref.subview %k[%key, %h, 0] [64, 1, 64] [1, 1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !tile
      %vs = memref.subview %v[%key, %h, 0] [64, 1, 64] [1, 1, 1] : !m to !rows
      %vt = wg.load %vs {mla.operand = "v"} : !rows -> !tile
      %sp = wg.mma %qt by %kt transposed : !tile by !tile -> !wg.pending<!acc>
      %s = wg.wait %sp : !wg.pending<!acc> -> !acc
      %p = wg.map %s : !acc -> !wg.fragment<64x64xbf16, accumulator> {
      ^bb0(%x: f32, %a: index, %b: index):
        %y = arith.truncf %x : f32 to bf16
        wg.yield %y : bf16
      }
      %a = wg.operand_a %p : !wg.fragment<64x64xbf16, accumulator>
          -> !wg.fragment<64x64xbf16, operand_a>
      %op = wg.mma %a by %vt accumulate %acc
          : !acc, !wg.fragment<64x64xbf16, operand_a> by !tile -> !wg.pending<!acc>
      %o = wg.wait %op : !wg.pending<!acc> -> !acc
      scf.yield %o : !acc
    }
    %os = memref.subview %out[%row, %h, 0] [64, 1, 64] [1, 1, 1]
        : memref<?x4x64xf32> to memref<64x64xf32, strided<[256, 1], offset: ?>>
    wg.store %r, %os count %c64 : !acc, memref<64x64xf32, strided<[256, 1], offset: ?>>
  } {mla.role_schedule = #mla.role_schedule<slots = 3, producer_registers = 24,
       consumer_registers = 240>}
  return
}

// Nobody asked for roles: all warpgroups do the same.
// CHECK-LABEL: func.func @without_schedule
// CHECK-NOT: wg.roles
// CHECK: wg.load
func.func @without_schedule(%k: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %h) in (%n, 4) {
    %init = wg.splat %zero : f32 -> !acc
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!acc) {
      %ks = memref.subview %k[%j, %h, 0] [64, 1, 64] [1, 1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !tile
      %sp = wg.mma %kt by %kt accumulate %acc : !acc, !tile by !tile -> !wg.pending<!acc>
      %s = wg.wait %sp : !wg.pending<!acc> -> !acc
      scf.yield %s : !acc
    }
  }
  return
}
