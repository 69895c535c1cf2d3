// A mask parameter is an index when the mask sees it, whatever its type; one per
// sequence is picked once for each item. Integers without sign stay so.

// RUN: mla-opt %s -mla-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x2x24xf32>
!kv = tensor<?x2x16xf32>

// CHECK-LABEL: func.func @per_sequence
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<?xi32>
// CHECK-NOT: tensor.extract %[[W]]
// CHECK: scf.forall
// CHECK: %[[SEQUENCE:.*]], %{{.*}}, %{{.*}} = mla.locate
// CHECK: %[[ENTRY:.*]] = tensor.extract %[[W]][%[[SEQUENCE]]]
// CHECK: %[[WINDOW:.*]] = arith.index_cast %[[ENTRY]] : i32 to index
// CHECK-NOT: tensor.extract %[[W]]
// CHECK: scf.for
// CHECK: arith.floordivsi %{{.*}}, %[[WINDOW]]
func.func @per_sequence(%w: tensor<?xi32>, %q: !q, %offsets: tensor<?xi32>, %k: !kv,
    %rope: tensor<?x8xf32>, %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.chunked parameters(%w) queries(%q, %offsets)
      keys(%k, %k, %offsets) rope(%rope) scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 32, key_tile = 16, guarded_key_tile = 8,
         order = ascending, probability = f32>}
      : (tensor<?xi32>, !q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x8xf32>,
         f32, !kv) -> !kv
  return %o : !kv
}

// CHECK-LABEL: func.func @unsigned
// CHECK-SAME: %[[W:[a-z0-9]+]]: ui32, {{.*}} %[[LAYER:[a-z0-9]+]]: ui32
// CHECK-DAG: %[[W_BITS:.*]] = builtin.unrealized_conversion_cast %[[W]] : ui32 to i32
// CHECK-DAG: %[[WINDOW:.*]] = arith.index_castui %[[W_BITS]] : i32 to index
// CHECK-DAG: %[[LAYER_BITS:.*]] = builtin.unrealized_conversion_cast %[[LAYER]] : ui32 to i32
// CHECK-DAG: arith.index_castui %[[LAYER_BITS]] : i32 to index
// CHECK: arith.floordivsi %{{.*}}, %[[WINDOW]]
func.func @unsigned(%w: ui32, %q: !q, %offsets: tensor<?xui32>, %k: !kv,
    %cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xui32>, %layer: ui32,
    %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.chunked parameters(%w) queries(%q, %offsets)
      keys(%k, %k, %offsets) pages(%cache, %table, %offsets, %layer)
      scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 32, key_tile = 16, guarded_key_tile = 8,
         order = ascending, probability = f32>}
      : (ui32, !q, tensor<?xui32>, !kv, !kv, tensor<?xui32>,
         tensor<?x1x?x16x1x40xf32>, tensor<?x?xui32>, tensor<?xui32>, ui32, f32, !kv) -> !kv
  return %o : !kv
}

// CHECK-LABEL: func.func @index
// CHECK-SAME: %[[W:[a-z0-9]+]]: index
// CHECK: arith.floordivsi %{{.*}}, %[[W]]
func.func @index(%w: index, %q: !q, %offsets: tensor<?xi32>, %k: !kv,
    %rope: tensor<?x8xf32>, %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.chunked parameters(%w) queries(%q, %offsets)
      keys(%k, %k, %offsets) rope(%rope) scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 32, key_tile = 16, guarded_key_tile = 8,
         order = ascending, probability = f32>}
      : (index, !q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x8xf32>, f32, !kv) -> !kv
  return %o : !kv
}
