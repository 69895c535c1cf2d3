// Tiles that an item stores and then loads are not copied ahead.

// RUN: mla-opt %s -mla-wg-specialize | FileCheck %s

!m = memref<?x64xbf16>
!rows = memref<64x64xbf16, strided<[64, 1], offset: ?>>
!t = !wg.tile<64x64xbf16>
!s = !wg.fragment<64x64xf32, accumulator>
#roles = #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 232>

// CHECK-LABEL: func.func @tiles
// CHECK-NOT: wg.roles
// CHECK: wg.store
// CHECK: wg.load
func.func @tiles(%k: !m, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.0 : bf16
  scf.forall (%i) in (%n) {
    %f = wg.splat %half : bf16 -> !wg.fragment<64x64xbf16, accumulator>
    wg.store %f, %k count %c64 : !wg.fragment<64x64xbf16, accumulator>, !m
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 0] [64, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}
