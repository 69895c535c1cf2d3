// Rows past a tile's count hold whatever the copy engine found behind the last row. They
// are cleared unless it can be seen that no result depends on them.

// RUN: mla-opt %s -mla-wg-specialize -canonicalize -cse \
// RUN:   | grep -E 'func.func|wg.(ring|clear_rows|take|roles)' | FileCheck %s

!m = memref<?x64xbf16>
!rows = memref<?x64xbf16, strided<[64, 1], offset: ?>>
!t = !wg.tile<64x64xbf16>
!s = !wg.fragment<64x64xf32, accumulator>
!a = !wg.fragment<64x64xbf16, operand_a>
!o = memref<?x64xf32>
!os = memref<?x64xf32, strided<[64, 1], offset: ?>>
#roles = #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 232>

// Keys: their scores are selected away. Queries: their rows are not stored. Values: zero
// times what is there is a number only if that is one.
// CHECK-LABEL: func.func @attention
// CHECK: wg.roles
// CHECK-NOT: wg.clear_rows
// CHECK: wg.take %[[Q:[0-9]+]][%{{.*}}] : <1 x
// CHECK-NOT: wg.clear_rows
// CHECK: wg.take %[[K:[0-9]+]][
// CHECK: wg.clear_rows %[[V:[0-9]+]][%[[USE:.*]]] element 0 from
// CHECK-NEXT: wg.take %[[V]][%[[USE]]]
// CHECK-NOT: wg.clear_rows
func.func @attention(%q: !m, %k: !m, %v: !m, %out: !o, %n: index, %queries: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  scf.forall (%i) in (%n) {
    %qs = memref.subview %q[%i, 0] [%queries, 64] [1, 1] : !m to !rows
    %qt = wg.load %qs count %queries : !rows -> !t
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %keys step %c64 iter_args(%acc = %init) -> (!s) {
      %left = arith.subi %keys, %j : index
      %count = arith.minsi %left, %c64 : index
      %ks = memref.subview %k[%j, 0] [%count, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks count %count : !rows -> !t
      %vs = memref.subview %v[%j, 0] [%count, 64] [1, 1] : !m to !rows
      %vt = wg.load %vs count %count : !rows -> !t
      %sp = wg.mma %qt by %kt transposed : !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      // Among other conditions, the column is one of a row that exists.
      %masked = wg.map %s : !s -> !s {
      ^bb0(%x: f32, %a: index, %b: index):
        %pos = arith.addi %j, %b : index
        %visible = arith.cmpi sle, %pos, %a : index
        %inside = arith.cmpi slt, %b, %count : index
        %both = arith.andi %visible, %inside : i1
        %y = arith.select %both, %x, %low : f32
        wg.yield %y : f32
      }
      %p = wg.map %masked : !s -> !wg.fragment<64x64xbf16, accumulator> {
      ^bb0(%x: f32, %a: index, %b: index):
        %e = math.exp2 %x : f32
        %y = arith.truncf %e : f32 to bf16
        wg.yield %y : bf16
      }
      %a = wg.operand_a %p : !wg.fragment<64x64xbf16, accumulator> -> !a
      %op = wg.mma %a by %vt accumulate %acc : !s, !a by !t -> !wg.pending<!s>
      %o = wg.wait %op : !wg.pending<!s> -> !s
      scf.yield %o : !s
    }
    %os = memref.subview %out[%i, 0] [%queries, 64] [1, 1] : !o to !os
    wg.store %r, %os count %queries : !s, !os
  } {mla.role_schedule = #roles}
  return
}

// More rows of the result are stored than there are queries, so that these count.
// CHECK-LABEL: func.func @stored_further
// CHECK: wg.clear_rows %[[Q:[0-9]+]][%{{.*}}] element 0 from
// CHECK-NEXT: wg.take %[[Q]][
// CHECK: wg.take
// CHECK-NOT: wg.clear_rows
func.func @stored_further(%q: !m, %k: !m, %out: memref<64x64xf32>, %n: index, %queries: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %qs = memref.subview %q[%i, 0] [%queries, 64] [1, 1] : !m to !rows
    %qt = wg.load %qs count %queries : !rows -> !t
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %keys step %c64 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 0] [64, 64] [1, 1] : !m to memref<64x64xbf16, strided<[64, 1], offset: ?>>
      %kt = wg.load %ks : memref<64x64xbf16, strided<[64, 1], offset: ?>> -> !t
      %sp = wg.mma %qt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// A count that is all rows leaves none.
// CHECK-LABEL: func.func @full
// CHECK: wg.roles
// CHECK-NOT: wg.clear_rows
// CHECK-LABEL: func.func @other_count
func.func @full(%k: !m, %out: memref<64x64xf32>, %n: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %keys step %c64 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 0] [%c64, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks count %c64 : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// Nothing is known of scores that are selected by another number than the rows',
// CHECK: wg.roles
// CHECK: wg.clear_rows
// CHECK: wg.take
func.func @other_count(%k: !m, %q: !t, %out: memref<64x64xf32>, %n: index, %count: index, %other: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 0] [%count, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks count %count : !rows -> !t
      %sp = wg.mma %q by %kt transposed : !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      %m = wg.map %s, %acc : !s, !s -> !s {
      ^bb0(%x: f32, %y: f32, %a: index, %b: index):
        %inside = arith.cmpi slt, %b, %other : index
        %z = arith.select %inside, %x, %y : f32
        wg.yield %z : f32
      }
      scf.yield %m : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// or in columns where one of two conditions holds,
// CHECK-LABEL: func.func @either
// CHECK: wg.roles
// CHECK: wg.clear_rows
func.func @either(%k: !m, %q: !t, %out: memref<64x64xf32>, %n: index, %count: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 0] [%count, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks count %count : !rows -> !t
      %sp = wg.mma %q by %kt transposed : !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      %m = wg.map %s, %acc : !s, !s -> !s {
      ^bb0(%x: f32, %y: f32, %a: index, %b: index):
        %inside = arith.cmpi slt, %b, %count : index
        %upper = arith.cmpi slt, %b, %a : index
        %any = arith.ori %inside, %upper : i1
        %z = arith.select %any, %x, %y : f32
        wg.yield %z : f32
      }
      scf.yield %m : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// or that go into what is selected instead,
// CHECK-LABEL: func.func @both_sides
// CHECK: wg.roles
// CHECK: wg.clear_rows
func.func @both_sides(%k: !m, %q: !t, %out: memref<64x64xf32>, %n: index, %count: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %init) -> (!s) {
      %ks = memref.subview %k[%j, 0] [%count, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks count %count : !rows -> !t
      %sp = wg.mma %q by %kt transposed : !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      %m = wg.map %s, %acc : !s, !s -> !s {
      ^bb0(%x: f32, %y: f32, %a: index, %b: index):
        %inside = arith.cmpi slt, %b, %count : index
        %w = arith.mulf %x, %y : f32
        %z = arith.select %inside, %x, %w : f32
        wg.yield %z : f32
      }
      scf.yield %m : !s
    }
    wg.store %r, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}

// or that somebody else reads too.
// CHECK-LABEL: func.func @read_twice
// CHECK: wg.roles
// CHECK: wg.clear_rows
func.func @read_twice(%k: !m, %q: !t, %out: memref<64x64xf32>, %n: index, %count: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %init = wg.splat %zero : f32 -> !s
    %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %init, %last = %init) -> (!s, !s) {
      %ks = memref.subview %k[%j, 0] [%count, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks count %count : !rows -> !t
      %sp = wg.mma %q by %kt transposed : !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      %m = wg.map %s, %acc : !s, !s -> !s {
      ^bb0(%x: f32, %y: f32, %a: index, %b: index):
        %inside = arith.cmpi slt, %b, %count : index
        %z = arith.select %inside, %x, %y : f32
        wg.yield %z : f32
      }
      scf.yield %m, %s : !s, !s
    }
    wg.store %r#0, %out count %c64 : !s, memref<64x64xf32>
    wg.store %r#1, %out count %c64 : !s, memref<64x64xf32>
  } {mla.role_schedule = #roles}
  return
}
