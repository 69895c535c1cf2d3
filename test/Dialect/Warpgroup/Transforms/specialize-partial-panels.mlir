// Tiles whose width is no multiple of a panel's 64 columns are copied as any other, in
// boxes of whole panels: what the last one brings beyond the tile's columns nobody reads.

// RUN: mla-opt %s -mla-wg-specialize -canonicalize -cse | FileCheck %s

!s = !wg.fragment<64x64xf32, accumulator>
#roles = #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 232>

// The tiles keep their width, in the rings and in the product.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x4x112xbf16>, %[[K:[a-z0-9]+]]: memref<?x80xbf16>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
// CHECK-DAG: %[[Q_MAP:.*]] = wg.tensor_map %[[Q]] operand "argument 0" : memref<?x4x112xbf16> -> <64x1x64xbf16>
// CHECK-DAG: %[[K_MAP:.*]] = wg.tensor_map %[[K]] operand "argument 1" : memref<?x80xbf16> -> <64x64xbf16>
// CHECK-NOT: wg.tensor_map
// CHECK-DAG: %[[Q_RING:.*]] = wg.ring consumers 1 : <1 x !wg.tile<64x80xbf16>>
// CHECK-DAG: %[[K_RING:.*]] = wg.ring consumers 1 : <2 x !wg.tile<64x80xbf16>>
// CHECK: wg.roles warpgroups 1 producer
// CHECK: wg.copy_box %[[K_MAP]][%[[ROW:.*]], %[[C0]]] to %[[K_RING]][%[[USE:.*]]] element 0 column 0 :
// CHECK-NEXT: wg.copy_box %[[K_MAP]][%[[ROW]], %[[C64]]] to %[[K_RING]][%[[USE]]] element 0 column 64 :
// CHECK-NEXT: wg.commit %[[K_RING]][%[[USE]]]
// CHECK: wg.copy_box %[[Q_MAP]][%[[ROW:.*]], %[[HEAD:.*]], %[[C0]]] to %[[Q_RING]][%[[USE:.*]]] element 0 column 0 :
// CHECK-NEXT: wg.copy_box %[[Q_MAP]][%[[ROW]], %[[HEAD]], %[[C64]]] to %[[Q_RING]][%[[USE]]] element 0 column 64 :
// CHECK-NEXT: wg.commit %[[Q_RING]][%[[USE]]]
// CHECK: } consumer
// CHECK: wg.mma %{{.*}} by %{{.*}} transposed {{.*}}!wg.tile<64x80xbf16> by !wg.tile<64x80xbf16>
// CHECK-NOT: wg.load
func.func @rows(%q: memref<?x4x112xbf16>, %k: memref<?x80xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %h) in (%n, 4) {
    %qs = memref.subview %q[%i, %h, 0] [64, 1, 80] [1, 1, 1]
        : memref<?x4x112xbf16> to memref<64x80xbf16, strided<[448, 1], offset: ?>>
    %qt = wg.load %qs : memref<64x80xbf16, strided<[448, 1], offset: ?>> -> !wg.tile<64x80xbf16>
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 0] [64, 80] [1, 1]
          : memref<?x80xbf16> to memref<64x80xbf16, strided<[80, 1], offset: ?>>
      %kt = wg.load %ks : memref<64x80xbf16, strided<[80, 1], offset: ?>> -> !wg.tile<64x80xbf16>
      %p = wg.mma %qt by %kt transposed accumulate %acc
          : !s, !wg.tile<64x80xbf16> by !wg.tile<64x80xbf16> -> !wg.pending<!s>
      %s = wg.wait %p : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// Less than one panel, of a tensor that has more columns to the right and to the left.
// CHECK-LABEL: func.func @narrow
// CHECK: %[[MAP:.*]] = wg.tensor_map %{{.*}} : memref<?x64xbf16> -> <64x64xbf16>
// CHECK: wg.ring consumers 1 : <2 x !wg.tile<64x16xbf16>>
// CHECK: wg.roles
// CHECK: wg.copy_box %[[MAP]][%{{.*}}, %c32_i32] to %{{.*}} element 0 column 0 :
// CHECK-NOT: wg.copy_box
func.func @narrow(%k: memref<?x64xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 32] [64, 16] [1, 1]
          : memref<?x64xbf16> to memref<64x16xbf16, strided<[64, 1], offset: ?>>
      %kt = wg.load %ks : memref<64x16xbf16, strided<[64, 1], offset: ?>> -> !wg.tile<64x16xbf16>
      %p = wg.mma %kt by %kt transposed accumulate %acc
          : !s, !wg.tile<64x16xbf16> by !wg.tile<64x16xbf16> -> !wg.pending<!s>
      %s = wg.wait %p : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// Of pages, too: 16 rows in a run, a panel of columns.
// CHECK-LABEL: func.func @pages
// CHECK: %[[MAP:.*]] = wg.tensor_map %{{.*}} operand "kv_blocks" : {{.*}} -> <1x1x16x64xbf16>
// CHECK-NOT: wg.tensor_map
// CHECK: %[[RING:.*]] = wg.ring consumers 1 : <2 x !wg.tile<64x32xbf16>>
// CHECK: wg.roles
// CHECK: wg.copy_pages %{{.*}} by %[[MAP]][layer %{{.*}}, column 512] through %{{.*}} to %[[RING]][%{{.*}}] element 0 : {{.*}}, <2 x !wg.tile<64x32xbf16>>
func.func @pages(%cache: memref<?x1x?x16x1x544xbf16>, %table: memref<?x?xi32>, %layer: index,
    %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %init) -> (!s) {
      %x = wg.load_pages %cache[layer %layer, column 512] through %table[%i] rows(%j, %c64)
          {mla.operand = "kv_blocks"}
          : memref<?x1x?x16x1x544xbf16>, memref<?x?xi32> -> !wg.tile<64x32xbf16>
      %p = wg.mma %x by %x transposed accumulate %acc
          : !s, !wg.tile<64x32xbf16> by !wg.tile<64x32xbf16> -> !wg.pending<!s>
      %u = wg.wait %p : !wg.pending<!s> -> !s
      scf.yield %u : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}
