// The producer's loops count uses and carry nothing else: an item whose loops carry
// numbers stays one stream, whoever needs them.

// RUN: mla-opt %s -mla-wg-specialize | FileCheck %s --implicit-check-not=wg.roles

!m = memref<?x64xbf16>
!rows = memref<64x64xbf16, strided<[64, 1], offset: ?>>
!t = !wg.tile<64x64xbf16>
!s = !wg.fragment<64x64xf32, accumulator>
#roles = #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 232>

// As a tile's address.
// CHECK-LABEL: func.func @carried
// CHECK: wg.load
func.func @carried(%k: !m, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init, %at = %i) -> (!s, index) {
      %ks = memref.subview %k[%at, 0] [64, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      %next = arith.addi %at, %c64 : index
      scf.yield %s, %next : !s, index
    }
    wg.store %r#0, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// As a later loop's bound.
// CHECK-LABEL: func.func @bound
// CHECK-COUNT-2: wg.load
func.func @bound(%k: !m, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init, %at = %i) -> (!s, index) {
      %ks = memref.subview %k[%j, 0] [64, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      %next = arith.addi %at, %c64 : index
      scf.yield %s, %next : !s, index
    }
    %q = scf.for %j = %c0 to %r#1 step %c1 iter_args(%acc = %r#0) -> (!s) {
      %ks = memref.subview %k[%j, 0] [64, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %q, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// In the consumers alone.
// CHECK-LABEL: func.func @result
// CHECK: wg.load
func.func @result(%k: !m, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init, %at = %i) -> (!s, index) {
      %ks = memref.subview %k[%j, 0] [64, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      %next = arith.addi %at, %c64 : index
      scf.yield %s, %next : !s, index
    }
    %count = arith.minsi %r#1, %c64 : index
    wg.store %r#0, %out count %count : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}
