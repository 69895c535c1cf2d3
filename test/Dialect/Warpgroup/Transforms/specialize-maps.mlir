// The box that the copy engine moves: as many rows as the tile along the one dimension
// that a slice keeps, one of the others, a panel of 64 columns. Of pages a run of rows
// that no page boundary cuts.

// RUN: mla-opt %s -mla-wg-specialize -canonicalize -cse | FileCheck %s

!s = !wg.fragment<64x64xf32, accumulator>
!t = !wg.tile<64x64xbf16>
!cache = memref<?x1x?x48x1x576xbf16>
#roles = #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 232>

// CHECK-LABEL: func.func @boxes
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<8x?x2x256xbf16>, %[[B:[a-z0-9]+]]: memref<?x64xbf16>
// The rows are the second of four dimensions; columns 64 to 191 are two panels, whose
// box is that of both slices.
// CHECK: %[[A_MAP:.*]] = wg.tensor_map %[[A]] operand "argument 0" : memref<8x?x2x256xbf16> -> <1x64x1x64xbf16>
// CHECK: %[[B_MAP:.*]] = wg.tensor_map %[[B]] operand "argument 1" : memref<?x64xbf16> -> <128x64xbf16>
// CHECK-NOT: wg.tensor_map
// CHECK: wg.roles
// CHECK: wg.copy_box %[[A_MAP]][%[[I:.*]], %[[J:.*]], %[[H:.*]], %c64_i32] to %[[RING:.*]][%[[USE:.*]]] element 0 column 0
// CHECK: wg.copy_box %[[A_MAP]][%[[I]], %[[J]], %[[H]], %c128_i32] to %[[RING]][%[[USE]]] element 0 column 64
// CHECK: wg.copy_box %[[A_MAP]][%[[I]], %[[J]], %[[H]], %c0_i32]
// CHECK: wg.copy_box %[[B_MAP]]
func.func @boxes(%a: memref<8x?x2x256xbf16>, %b: memref<?x64xbf16>, %out: memref<64x64xf32>,
    %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %h) in (%n, 2) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %xs = memref.subview %a[%i, %j, %h, 64] [1, 64, 1, 128] [1, 1, 1, 1]
          : memref<8x?x2x256xbf16> to memref<64x128xbf16, strided<[512, 1], offset: ?>>
      %x = wg.load %xs : memref<64x128xbf16, strided<[512, 1], offset: ?>> -> !wg.tile<64x128xbf16>
      %ys = memref.subview %a[%i, %j, %h, 0] [1, 64, 1, 64] [1, 1, 1, 1]
          : memref<8x?x2x256xbf16> to memref<64x64xbf16, strided<[512, 1], offset: ?>>
      %y = wg.load %ys : memref<64x64xbf16, strided<[512, 1], offset: ?>> -> !t
      %zs = memref.subview %b[%j, 0] [128, 64] [1, 1]
          : memref<?x64xbf16> to memref<128x64xbf16, strided<[64, 1], offset: ?>>
      %z = wg.load %zs : memref<128x64xbf16, strided<[64, 1], offset: ?>> -> !wg.tile<128x64xbf16>
      %p = wg.mma %x by %z accumulate %acc : !s, !wg.tile<64x128xbf16> by !wg.tile<128x64xbf16> -> !wg.pending<!s>
      %u = wg.wait %p : !wg.pending<!s> -> !s
      %q = wg.mma %y by %y accumulate %u : !s, !t by !t -> !wg.pending<!s>
      %v = wg.wait %q : !wg.pending<!s> -> !s
      scf.yield %v : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// Pages of 48 rows and tiles of 64 have runs of 16 in common. [pages, 1, L, P, 1, Dc]
// has more dimensions than a map needs.
// CHECK-LABEL: func.func @pages
// CHECK: %[[VIEW:.*]] = memref.subview %{{.*}}[0, 0, 0, 0, 0, 0] [%{{.*}}, 1, %{{.*}}, 48, 1, 576] [1, 1, 1, 1, 1, 1] : memref<?x1x?x48x1x576xbf16> to memref<?x?x48x576xbf16, {{.*}}>
// CHECK: %[[MAP:.*]] = wg.tensor_map %[[VIEW]] operand "kv_blocks" : {{.*}} -> <1x1x16x64xbf16>
// CHECK-NOT: wg.tensor_map
// CHECK: wg.copy_pages %{{.*}} by %[[MAP]][layer %{{.*}}, column 512]
// Both loads are of one tensor.
// CHECK: wg.copy_pages %{{.*}} by %[[MAP]][layer %{{.*}}, column 448]
func.func @pages(%cache: !cache, %table: memref<?x?xi32>, %layer: index, %out: memref<64x64xf32>,
    %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %x = wg.load_pages %cache[layer %layer, column 512] through %table[%i] rows(%j, %c64)
          {mla.operand = "kv_blocks"} : !cache, memref<?x?xi32> -> !t
      %y = wg.load_pages %cache[layer %layer, column 448] through %table[%i] rows(%j, %c64)
          {mla.operand = "kv_blocks"} : !cache, memref<?x?xi32> -> !t
      %p = wg.mma %x by %y transposed accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %u = wg.wait %p : !wg.pending<!s> -> !s
      scf.yield %u : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// Pages of 4 rows cut the swizzle's pattern of 8, and of pages of unknown size nothing
// is known: the warp gathers.
// CHECK-LABEL: func.func @gathered
// CHECK-NOT: wg.tensor_map
// CHECK: wg.copy_pages %{{[a-z0-9]+}}[layer
// CHECK: wg.copy_pages %{{[a-z0-9]+}}[layer
func.func @gathered(%small: memref<?x1x?x4x1x576xbf16>, %any: memref<?x1x?x?x1x576xbf16>,
    %table: memref<?x?xi32>, %layer: index, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %x = wg.load_pages %small[layer %layer, column 512] through %table[%i] rows(%j, %c64)
          : memref<?x1x?x4x1x576xbf16>, memref<?x?xi32> -> !t
      %y = wg.load_pages %any[layer %layer, column 512] through %table[%i] rows(%j, %c64)
          : memref<?x1x?x?x1x576xbf16>, memref<?x?xi32> -> !t
      %p = wg.mma %x by %y transposed accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %u = wg.wait %p : !wg.pending<!s> -> !s
      scf.yield %u : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}
