// One-shot bufferization writes destinations in place: no buffer and no copy
// appears unless a destination is needed again.

// RUN: mla-opt %s \
// RUN:   -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   | FileCheck %s

!q = tensor<?x2x24xf32>
!kv = tensor<?x2x16xf32>
!vec = tensor<?xi32>

// CHECK-LABEL: func.func @prefill
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?x2x16xf32>, %[[LSE:[a-z0-9]+]]: memref<?x2xf32>)
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: {{^ *}}mla.prefill #mla.chunked parameters(%{{.*}}) queries(
// CHECK-SAME: outs(%[[OUT]], %[[LSE]]) : (memref<?xi32>, memref<?x2x24xf32>, {{.*}} -> ()
// CHECK-NOT: memref.copy
// CHECK: return %[[OUT]], %[[LSE]]
func.func @prefill(%w: !vec, %q: !q, %offsets: !vec, %k: !kv,
    %cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>, %lengths: !vec,
    %layer: i32, %scale: f32, %out: !kv, %lse: tensor<?x2xf32>)
    -> (!kv, tensor<?x2xf32>) {
  %0:2 = mla.prefill #mla.chunked parameters(%w)
      queries(%q, %offsets) keys(%k, %k, %offsets)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out, %lse)
      : (!vec, !q, !vec, !kv, !kv, !vec, tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>,
         !vec, i32, f32, !kv, tensor<?x2xf32>) -> (!kv, tensor<?x2xf32>)
  return %0#0, %0#1 : !kv, tensor<?x2xf32>
}

// The old content of the destination is read afterwards, so the op writes into a
// copy; a copy, not just a buffer, since rows past the last offset keep their
// content.
// CHECK-LABEL: func.func @destination_is_needed
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?x2x16xf32>)
// CHECK: %[[NEW:.*]] = memref.alloc
// CHECK: memref.copy %[[OUT]], %[[NEW]]
// CHECK: mla.prefill
// CHECK-SAME: outs(%[[NEW]])
func.func @destination_is_needed(%q: !q, %offsets: !vec, %k: !kv,
    %rope: tensor<?x8xf32>, %scale: f32, %out: !kv) -> (!kv, !kv) {
  %0 = mla.prefill #mla.null queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (!q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  return %0, %out : !kv, !kv
}

// An input that is also the destination cannot be both.
// CHECK-LABEL: func.func @destination_is_input
// CHECK-SAME: %[[K:[a-z0-9]+]]: memref<?x2x16xf32>, %{{[a-z0-9]+}}: memref<?x8xf32
// CHECK: %[[NEW:.*]] = memref.alloc
// CHECK: memref.copy %[[K]], %[[NEW]]
// CHECK: mla.prefill
// CHECK-SAME: keys(%[[K]], %[[K]],
// CHECK-SAME: outs(%[[NEW]])
func.func @destination_is_input(%q: !q, %offsets: !vec, %k: !kv,
    %rope: tensor<?x8xf32>, %scale: f32) -> !kv {
  %0 = mla.prefill #mla.null queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%k)
      : (!q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  return %0 : !kv
}

// CHECK-LABEL: func.func @tile_ops
// CHECK-SAME: %[[OFFSETS:[a-z0-9]+]]: memref<?xi32>, %[[DEST:[a-z0-9]+]]: memref<32x8xf32>)
// CHECK-NOT: memref.copy
// CHECK: %[[S:.*]], %{{.*}}, %[[N:.*]] = mla.locate %{{.*}} in %[[OFFSETS]] tile 8 : memref<?xi32>
// CHECK-NEXT: {{^ *}}mla.gather_pages %{{.*}} through %{{.*}}[%[[S]]] rows(%{{.*}}, %[[N]]) outs(%[[DEST]]) : memref
// CHECK-NOT: memref.copy
// CHECK: return %[[DEST]]
func.func @tile_ops(%i: index, %cache: tensor<?x1x?x16x1x40xf32>,
    %table: tensor<?x?xi32>, %offsets: !vec, %dest: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %s, %f, %n = mla.locate %i in %offsets tile 8 : !vec
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%s]
      rows(%f, %n) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<32x8xf32> -> tensor<32x8xf32>
  return %r : tensor<32x8xf32>
}
