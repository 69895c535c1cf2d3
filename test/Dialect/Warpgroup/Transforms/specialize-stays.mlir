// What cannot be parted stays one stream, as it was.

// RUN: mla-opt %s -mla-wg-specialize | FileCheck %s --implicit-check-not=wg.roles \
// RUN:   --implicit-check-not=wg.ring --implicit-check-not=wg.tensor_map

!m = memref<?x64xbf16>
!rows = memref<64x64xbf16, strided<[64, 1], offset: ?>>
!t = !wg.tile<64x64xbf16>
!s = !wg.fragment<64x64xf32, accumulator>
#roles = #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 232>

// No loop: nothing to overlap.
// CHECK-LABEL: func.func @no_loop
// CHECK: wg.load
func.func @no_loop(%k: !m, %out: memref<64x64xf32>, %n: index) {
  %c64 = arith.constant 64 : index
  scf.forall (%i) in (%n) {
    %ks = memref.subview %k[%i, 0] [64, 64] [1, 1] : !m to !rows
    %kt = wg.load %ks : !rows -> !t
    %sp = wg.mma %kt by %kt : !t by !t -> !wg.pending<!s>
    %s = wg.wait %sp : !wg.pending<!s> -> !s
    wg.store %s, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// An operand that is no slice of anything.
// CHECK-LABEL: func.func @whole
// CHECK: wg.load
func.func @whole(%k: memref<64x64xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %kt = wg.load %k : memref<64x64xbf16> -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// A slice of a slice: the host knows only operands.
// CHECK-LABEL: func.func @slice_of_slice
// CHECK: wg.load
func.func @slice_of_slice(%k: memref<?x128xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %half = memref.subview %k[%i, 64] [128, 64] [1, 1]
          : memref<?x128xbf16> to memref<128x64xbf16, strided<[128, 1], offset: ?>>
      %ks = memref.subview %half[%j, 0] [64, 64] [1, 1]
          : memref<128x64xbf16, strided<[128, 1], offset: ?>> to memref<64x64xbf16, strided<[128, 1], offset: ?>>
      %kt = wg.load %ks : memref<64x64xbf16, strided<[128, 1], offset: ?>> -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// Every second row.
// CHECK-LABEL: func.func @strided
// CHECK: wg.load
func.func @strided(%k: !m, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 0] [64, 64] [2, 1] : !m to memref<64x64xbf16, strided<[128, 1], offset: ?>>
      %kt = wg.load %ks : memref<64x64xbf16, strided<[128, 1], offset: ?>> -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// A box has at most 256 rows.
// CHECK-LABEL: func.func @many_rows
// CHECK: wg.load
func.func @many_rows(%k: !m, %q: !wg.fragment<64x320xbf16, operand_a>, %out: memref<64x64xf32>,
    %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 0] [320, 64] [1, 1] : !m to memref<320x64xbf16, strided<[64, 1], offset: ?>>
      %kt = wg.load %ks : memref<320x64xbf16, strided<[64, 1], offset: ?>> -> !wg.tile<320x64xbf16>
      %sp = wg.mma %q by %kt accumulate %acc
          : !s, !wg.fragment<64x320xbf16, operand_a> by !wg.tile<320x64xbf16> -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// A tensor map has at most five dimensions,
// CHECK-LABEL: func.func @six_dimensions
// CHECK: wg.load
func.func @six_dimensions(%k: memref<2x2x2x2x?x64xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[0, 0, 1, 0, %j, 0] [1, 1, 1, 1, 64, 64] [1, 1, 1, 1, 1, 1]
          : memref<2x2x2x2x?x64xbf16> to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// the last of which are the columns.
// CHECK-LABEL: func.func @last_dimension
// CHECK: wg.load
func.func @last_dimension(%k: memref<?x64x1xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 0, 0] [64, 64, 1] [1, 1, 1] : memref<?x64x1xbf16> to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// Pages of a cache, or a table of them, that only an item knows.
// CHECK-LABEL: func.func @cache_of_an_item
// CHECK: wg.load_pages
func.func @cache_of_an_item(%k: memref<?x1x?x64x1x64xbf16>, %table: memref<?x?xi32>,
    %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %pages = memref.cast %k : memref<?x1x?x64x1x64xbf16> to memref<?x1x4x64x1x64xbf16>
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %init) -> (!s) {
      %kt = wg.load_pages %pages[layer %c0, column 0] through %table[%i] rows(%j, %c64)
          : memref<?x1x4x64x1x64xbf16>, memref<?x?xi32> -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// CHECK-LABEL: func.func @table_of_an_item
// CHECK: wg.load_pages
func.func @table_of_an_item(%k: memref<?x1x?x64x1x64xbf16>, %table: memref<?x?xi32>,
    %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %row = memref.subview %table[%i, 0] [1, 64] [1, 1]
        : memref<?x?xi32> to memref<1x64xi32, strided<[?, 1], offset: ?>>
    %own = memref.cast %row
        : memref<1x64xi32, strided<[?, 1], offset: ?>> to memref<?x?xi32, strided<[?, 1], offset: ?>>
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %init) -> (!s) {
      %kt = wg.load_pages %k[layer %c0, column 0] through %own[%c0] rows(%j, %c64)
          : memref<?x1x?x64x1x64xbf16>, memref<?x?xi32, strided<[?, 1], offset: ?>> -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// Tiles in a loop of a loop, or under a condition: the roles count uses of iterations.
// CHECK-LABEL: func.func @nested
// CHECK: wg.load
func.func @nested(%k: !m, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%outer = %init) -> (!s) {
      %q = scf.for %l = %c0 to %n step %c1 iter_args(%acc = %outer) -> (!s) {
        %ks = memref.subview %k[%l, 0] [64, 64] [1, 1] : !m to !rows
        %kt = wg.load %ks : !rows -> !t
        %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
        %s = wg.wait %sp : !wg.pending<!s> -> !s
        scf.yield %s : !s
      }
      scf.yield %q : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// CHECK-LABEL: func.func @condition
// CHECK: wg.load
func.func @condition(%k: !m, %out: memref<64x64xf32>, %n: index, %some: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %q = scf.if %some -> (!s) {
        %ks = memref.subview %k[%j, 0] [64, 64] [1, 1] : !m to !rows
        %kt = wg.load %ks : !rows -> !t
        %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
        %s = wg.wait %sp : !wg.pending<!s> -> !s
        scf.yield %s : !s
      } else {
        scf.yield %acc : !s
      }
      scf.yield %q : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// Two loops that do not fill the same rings.
// CHECK-LABEL: func.func @different_loops
// CHECK: wg.load
func.func @different_loops(%k: !m, %q2: memref<?x128xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 0] [64, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %r) -> (!s) {
      %ks = memref.subview %k[%j, 0] [128, 64] [1, 1] : !m to memref<128x64xbf16, strided<[64, 1], offset: ?>>
      %kt = wg.load %ks : memref<128x64xbf16, strided<[64, 1], offset: ?>> -> !wg.tile<128x64xbf16>
      %qs = memref.subview %q2[%i, 0] [64, 128] [1, 1]
          : memref<?x128xbf16> to memref<64x128xbf16, strided<[128, 1], offset: ?>>
      %qt = wg.load %qs : memref<64x128xbf16, strided<[128, 1], offset: ?>> -> !wg.tile<64x128xbf16>
      %sp = wg.mma %qt by %kt accumulate %acc : !s, !wg.tile<64x128xbf16> by !wg.tile<128x64xbf16> -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %q, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// Items of three dimensions.
// CHECK-LABEL: func.func @three_dimensions
// CHECK: wg.load
func.func @three_dimensions(%k: !m, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %h, %g) in (%n, 4, 2) {
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
