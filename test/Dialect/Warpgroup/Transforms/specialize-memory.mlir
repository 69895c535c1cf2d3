// An item that reads what it wrote before does so in one role, in that order.

// RUN: mla-opt %s -mla-wg-specialize -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @memory
// CHECK: memref.store
// CHECK-NOT: wg.roles
// CHECK: memref.load
!m = memref<?x64xbf16>
!rows = memref<64x64xbf16, strided<[64, 1], offset: ?>>
!t = !wg.tile<64x64xbf16>
!s = !wg.fragment<64x64xf32, accumulator>
#roles = #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 232>
func.func @memory(%k: !m, %out: memref<64x64xf32>, %n: index, %x: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    memref.store %i, %x[%i] : memref<?xindex>
    %at = memref.load %x[%i] : memref<?xindex>
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%at, 0] [64, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}
