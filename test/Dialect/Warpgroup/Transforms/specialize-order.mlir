// Items that are tiles of sequences come in an order: the most costly sequences first. A
// tile costs what its loops take iterations, as far as that follows from the sequence,
// the first query and their number.

// RUN: mla-opt %s -mla-wg-specialize -canonicalize -cse | FileCheck %s

!m = memref<?x4x64xbf16>
!rows = memref<64x64xbf16, strided<[256, 1], offset: ?>>
!t = !wg.tile<64x64xbf16>
!s = !wg.fragment<64x64xf32, accumulator>
#roles = #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 232>

// Two loops; what the bounds come from is computed again, and nothing else.
// CHECK-LABEL: func.func @known
// CHECK-SAME: %[[OFFSETS:[a-z0-9]+]]: memref<?xi32>, %[[LENGTHS:[a-z0-9]+]]: memref<?xindex>
// CHECK: scf.forall (%[[BLOCK:.*]]) in
// The keys of a head in one tile are 8 KiB: 4096 heads' fill 32 MiB of cache.
// CHECK: %[[ORDER:.*]] = wg.order %[[OFFSETS]] tile 64 heads %c4 for 4096 : memref<?xi32> {
// CHECK-NEXT: ^bb0(%[[SEQUENCE:.*]]: index, %[[FIRST:.*]]: index, %[[COUNT:.*]]: index):
// CHECK-NEXT: %[[LENGTH:.*]] = memref.load %[[LENGTHS]][%[[SEQUENCE]]]
// CHECK-NEXT: %[[SOME:.*]] = arith.maxsi %[[LENGTH]], %c0
// CHECK-NEXT: %[[STEPS0:.*]] = arith.ceildivsi %[[SOME]], %c64
// The second one's bounds are %length and %length + %first.
// CHECK-NEXT: %[[MORE:.*]] = arith.maxsi %[[FIRST]], %c0
// CHECK-NEXT: %[[STEPS1:.*]] = arith.ceildivsi %[[MORE]], %c64
// CHECK-NEXT: %[[COST:.*]] = arith.addi %[[STEPS0]], %[[STEPS1]]
// CHECK-NEXT: wg.yield %[[COST]]
// CHECK: wg.roles
// CHECK: %[[ITEMS:.*]] = wg.item_count %[[ORDER]] heads %c4
// CHECK: scf.while (%[[N:.*]] = %[[BLOCK]],
// CHECK: arith.cmpi ult, %[[N]], %[[ITEMS]]
// CHECK: %sequence, %first, %count, %head = wg.item %[[ORDER]][%{{.*}}] heads %c4 in %[[OFFSETS]] tile 64
// CHECK-NOT: wg.locate
func.func @known(%offsets: memref<?xi32>, %lengths: memref<?xindex>, %other: memref<?xindex>,
    %k: !m, %out: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %h) in (%n, 4) {
    %sequence, %first, %count = wg.locate %i in %offsets tile 64 : memref<?xi32>
    %length = memref.load %lengths[%sequence] : memref<?xindex>
    %start = memref.load %other[%sequence] : memref<?xindex>
    %end = arith.addi %length, %first : index
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %length step %c64 iter_args(%acc = %init) -> (!s) {
      %row = arith.addi %start, %j : index
      %ks = memref.subview %k[%row, %h, 0] [64, 1, 64] [1, 1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    %q = scf.for %j = %length to %end step %c64 iter_args(%acc = %r) -> (!s) {
      %row = arith.addi %start, %j : index
      %ks = memref.subview %k[%row, %h, 0] [64, 1, 64] [1, 1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    %half = wg.map %q : !s -> !wg.fragment<64x64xbf16, accumulator> {
    ^bb0(%x: f32, %a: index, %b: index):
      %y = arith.truncf %x : f32 to bf16
      wg.yield %y : bf16
    }
    %os = memref.subview %out[%first, %h, 0] [64, 1, 64] [1, 1, 1] : !m to !rows
    wg.store %half, %os count %count : !wg.fragment<64x64xbf16, accumulator>, !rows
  } {mla.role_schedule = #roles}
  return
}

// A bound that the head has a part in: longer sequences are as good as any guess.
// CHECK-LABEL: func.func @unknown
// CHECK: wg.order
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[COUNT:.*]]: index):
// CHECK-NEXT: wg.yield %[[COUNT]]
func.func @unknown(%offsets: memref<?xi32>, %k: !m, %out: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %h) in (%n, 4) {
    %sequence, %first, %count = wg.locate %i in %offsets tile 64 : memref<?xi32>
    %keys = arith.muli %h, %c64 : index
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %keys step %c64 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, %h, 0] [64, 1, 64] [1, 1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    %half = wg.map %r : !s -> !wg.fragment<64x64xbf16, accumulator> {
    ^bb0(%x: f32, %a: index, %b: index):
      %y = arith.truncf %x : f32 to bf16
      wg.yield %y : bf16
    }
    %os = memref.subview %out[%first, %h, 0] [64, 1, 64] [1, 1, 1] : !m to !rows
    wg.store %half, %os count %count : !wg.fragment<64x64xbf16, accumulator>, !rows
  } {mla.role_schedule = #roles}
  return
}

// Items that are no sequences' tiles come as the loop counts them.
// CHECK-LABEL: func.func @counted
// CHECK: %[[ALL:.*]] = arith.muli %{{.*}}, %c4
// CHECK-NOT: wg.order
// CHECK: wg.roles
// CHECK: arith.cmpi ult, %{{.*}}, %[[ALL]]
// CHECK-DAG: arith.divui %{{.*}}, %c4
// CHECK-DAG: arith.remui %{{.*}}, %c4
// CHECK-NOT: wg.item
func.func @counted(%k: !m, %out: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %h) in (%n, 4) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, %h, 0] [64, 1, 64] [1, 1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    %half = wg.map %r : !s -> !wg.fragment<64x64xbf16, accumulator> {
    ^bb0(%x: f32, %a: index, %b: index):
      %y = arith.truncf %x : f32 to bf16
      wg.yield %y : bf16
    }
    %os = memref.subview %out[%i, %h, 0] [64, 1, 64] [1, 1, 1] : !m to !rows
    wg.store %half, %os count %c64 : !wg.fragment<64x64xbf16, accumulator>, !rows
  } {mla.role_schedule = #roles}
  return
}

// One dimension: each number is one item.
// CHECK-LABEL: func.func @one_dimension
// CHECK: scf.forall (%[[BLOCK:.*]]) in (%[[N:.*]]) {
// CHECK: wg.roles
// CHECK: scf.while (%[[ITEM:.*]] = %[[BLOCK]],
// CHECK: arith.cmpi ult, %[[ITEM]], %[[N]]
func.func @one_dimension(%k: memref<?x64xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %i step %c64 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 0] [64, 64] [1, 1] : memref<?x64xbf16> to memref<64x64xbf16, strided<[64, 1], offset: ?>>
      %kt = wg.load %ks : memref<64x64xbf16, strided<[64, 1], offset: ?>> -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}
