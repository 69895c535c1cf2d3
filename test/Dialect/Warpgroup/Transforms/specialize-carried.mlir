// Scalars that a loop carries, where the producer needs them: as a tile's address, as a
// later loop's bound; and where the consumers do.

// RUN: mla-opt %s -mla-wg-specialize -o /dev/null

!m = memref<?x64xbf16>
!rows = memref<64x64xbf16, strided<[64, 1], offset: ?>>
!t = !wg.tile<64x64xbf16>
!s = !wg.fragment<64x64xf32, accumulator>
#roles = #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 232>
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