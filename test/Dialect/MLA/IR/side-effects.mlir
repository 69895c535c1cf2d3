// What the effects of the ops let upstream passes do. Forms on tensors have
// none; forms on memrefs read their inputs and read and write their destinations.

// RUN: mla-opt %s -canonicalize -cse -loop-invariant-code-motion -canonicalize | FileCheck %s

!q = tensor<?x2x24xf32>
!kv = tensor<?x2x16xf32>
!vec = tensor<?xi32>
!mq = memref<?x2x24xf32>
!mkv = memref<?x2x16xf32>
!mvec = memref<?xi32>

// CHECK-LABEL: func.func @unused
// CHECK-NEXT: return
func.func @unused(%q: !q, %offsets: !vec, %k: !kv, %rope: tensor<?x8xf32>,
    %scale: f32, %out: !kv, %i: index, %cache: tensor<?x1x?x16x1x40xf32>,
    %table: tensor<?x?xi32>, %dest: tensor<32x8xf32>, %moffsets: !mvec) {
  %0 = mla.prefill #mla.null queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (!q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  %1 = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<32x8xf32> -> tensor<32x8xf32>
  %2:3 = mla.locate %i in %offsets tile 8 : !vec
  %3:3 = mla.locate %i in %moffsets tile 8 : !mvec
  return
}

// CHECK-LABEL: func.func @written
// CHECK-NEXT: mla.prefill
// CHECK-NEXT: mla.gather_pages
// CHECK-NEXT: return
func.func @written(%q: !mq, %offsets: !mvec, %k: !mkv, %rope: memref<?x8xf32>,
    %scale: f32, %out: !mkv, %i: index, %cache: memref<?x1x?x16x1x40xf32>,
    %table: memref<?x?xi32>, %dest: memref<32x8xf32>) {
  mla.prefill #mla.null queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (!mq, !mvec, !mkv, !mkv, !mvec, memref<?x8xf32>, f32, !mkv) -> ()
  mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : memref<?x1x?x16x1x40xf32>, memref<?x?xi32>, memref<32x8xf32>
  return
}

// Twice the same on tensors is once; another mask is another op.
// CHECK-LABEL: func.func @common
// CHECK: %[[O:.*]] = mla.prefill #mla.null
// CHECK: %[[P:.*]] = mla.prefill #mla.causal
// CHECK: return %[[O]], %[[O]], %[[P]]
func.func @common(%q: !q, %offsets: !vec, %k: !kv, %rope: tensor<?x8xf32>,
    %scale: f32, %out: !kv) -> (!kv, !kv, !kv) {
  %0 = mla.prefill #mla.null queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (!q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  %1 = mla.prefill #mla.null queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (!q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  %2 = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (!q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  return %0, %1, %2 : !kv, !kv, !kv
}

// None leaves a loop, on tensors either: the loop may not run at all, and offsets
// that were never meant to be read may point anywhere.
// CHECK-LABEL: func.func @loops
// CHECK: scf.for
// CHECK: mla.prefill #mla.null
// CHECK: mla.prefill #mla.causal
// CHECK: mla.locate
// CHECK: scf.yield
func.func @loops(%q: !q, %offsets: !vec, %k: !kv, %rope: tensor<?x8xf32>,
    %scale: f32, %out: !kv, %mq: !mq, %moffsets: !mvec, %mk: !mkv,
    %mrope: memref<?x8xf32>, %mout: !mkv, %n: index) -> (!kv, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1
      iter_args(%last = %out, %count = %c0) -> (!kv, index) {
    %0 = mla.prefill #mla.null queries(%q, %offsets) keys(%k, %k, %offsets)
        rope(%rope) scale(%scale) outs(%out)
        : (!q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
    mla.prefill #mla.causal queries(%mq, %moffsets) keys(%mk, %mk, %moffsets)
        rope(%mrope) scale(%scale) outs(%mout)
        : (!mq, !mvec, !mkv, !mkv, !mvec, memref<?x8xf32>, f32, !mkv) -> ()
    %1:3 = mla.locate %n in %offsets tile 8 : !vec
    scf.yield %0, %1#2 : !kv, index
  }
  return %r#0, %r#1 : !kv, index
}

// A store between two reads keeps them apart.
// CHECK-LABEL: func.func @reads
// CHECK: mla.locate
// CHECK: memref.store
// CHECK: %[[S:.*]], %{{.*}}, %{{.*}} = mla.locate
// CHECK-NOT: mla.locate
// CHECK: return %{{.*}}, %[[S]], %[[S]]
func.func @reads(%i: index, %offsets: !mvec, %x: i32) -> (index, index, index) {
  %0:3 = mla.locate %i in %offsets tile 8 : !mvec
  memref.store %x, %offsets[%i] : !mvec
  %1:3 = mla.locate %i in %offsets tile 8 : !mvec
  %2:3 = mla.locate %i in %offsets tile 8 : !mvec
  return %0#0, %1#0, %2#0 : index, index, index
}
