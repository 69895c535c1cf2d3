// All keys are open but for what is left of the last tile, where only the end of
// the keys is guarded.

// RUN: mla-opt %s -mla-to-tile -canonicalize -cse | FileCheck %s

// CHECK-DAG: #[[$DOWN:.*]] = affine_map<()[s0] -> ((s0 floordiv 16) * 16)>
// CHECK-DAG: #[[$REST:.*]] = affine_map<()[s0, s1] -> (8, s0 - s1)>
// CHECK-LABEL: func.func @null
// CHECK: %{{.*}}, %[[FIRST:.*]], %[[COUNT:.*]] = mla.locate
// CHECK: %[[KEYS:.*]] = arith.select %{{.*}}, %{{.*}}, %c0
// CHECK: %[[END_KEY:.*]] = arith.maxsi %[[KEYS]], %c0
// CHECK: %[[WHOLE:.*]] = affine.apply #[[$DOWN]]()[%[[END_KEY]]]
// CHECK: %[[CLOSE_KEY:.*]] = arith.maxsi %[[WHOLE]], %c0
// CHECK: scf.for %{{.*}} = %c0 to %[[CLOSE_KEY]] step %c16
// CHECK-NOT: linalg.index
// CHECK-NOT: arith.cmpi
// CHECK: scf.for %[[KEY:.*]] = %[[CLOSE_KEY]] to %[[END_KEY]] step %c8
// CHECK: %[[N:.*]] = affine.min #[[$REST]]()[%[[END_KEY]], %[[KEY]]]
// CHECK-NOT: linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK-NOT: arith.andi
// CHECK: %[[OK:.*]] = arith.cmpi slt, %[[J]], %[[N]]
// CHECK: arith.select %[[OK]], %{{.*}}, %cst
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: scf.forall.in_parallel
func.func @null(%q: tensor<?x2x24xf32>, %offsets: tensor<?xi32>,
    %k: tensor<?x2x16xf32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) -> tensor<?x2x16xf32> {
  %o = mla.prefill #mla.null queries(%q, %offsets)
      keys(%k, %k, %offsets) rope(%rope) scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 32, key_tile = 16, guarded_key_tile = 8,
         order = ascending, probability = f32>}
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>,
         tensor<?x2x16xf32>, tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>)
      -> tensor<?x2x16xf32>
  return %o : tensor<?x2x16xf32>
}
