// A ragged rope is sliced like the keys, but has no heads; positions come from the
// lengths where they are given (MLA-R4 where not: see the masks' tests).

// RUN: mla-opt %s -mla-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x2x24xf32>
!kv = tensor<?x2x16xf32>

// CHECK-LABEL: func.func @rope
// CHECK-SAME: %[[K:[a-z0-9]+]]: tensor<?x2x16xf32>, %{{[a-z0-9]+}}: tensor<?xi32>, %[[ROPE:[a-z0-9]+]]: tensor<?x8xf32>, %[[LENGTHS:[a-z0-9]+]]: tensor<?xi32>
// CHECK: %[[SEQUENCE:.*]], %[[FIRST:.*]], %{{.*}} = mla.locate
// CHECK: %[[LENGTH:.*]] = tensor.extract %[[LENGTHS]][%[[SEQUENCE]]]
// CHECK: %[[CACHED:.*]] = arith.index_cast %[[LENGTH]]
// CHECK: arith.addi %[[CACHED]], %[[FIRST]]
// CHECK: scf.for %[[KEY:[a-z0-9]+]] = %c0 to
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[KEY]]
// CHECK: tensor.extract_slice %[[K]][%[[ROW]], %{{.*}}, 0] [16, 1, 16]
// CHECK: tensor.extract_slice %[[ROPE]][%[[ROW]], 0] [16, 8] [1, 1]
// CHECK: scf.for %[[KEY:[a-z0-9]+]] =
// CHECK: %[[N:.*]] = affine.min
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[KEY]]
// CHECK: %[[ROPE_ROWS:.*]] = tensor.extract_slice %[[ROPE]][%[[ROW]], 0] [%[[N]], 8] [1, 1] {mla.operand = "k_rope"}
// CHECK: tensor.pad %[[ROPE_ROWS]]
// CHECK-NOT: mla.gather_pages
func.func @rope(%q: !q, %iro: tensor<?xi32>, %k: !kv, %bro: tensor<?xi32>,
    %rope: tensor<?x8xf32>, %lengths: tensor<?xi32>, %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %k, %bro)
      rope(%rope, %lengths) scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 32, key_tile = 16, guarded_key_tile = 8,
         order = ascending, probability = f32>}
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x8xf32>, tensor<?xi32>,
         f32, !kv) -> !kv
  return %o : !kv
}
