// A mask that the compiler has never heard of, from a plugin. Its predicate alone
// makes one guarded loop over all keys; with ranges of its own there is an open
// loop, without the predicate.

// RUN: mla-opt %s --load-dialect-plugin=%mla_lib_dir/libMLATestPlugin%shlibext \
// RUN:   -mla-to-tile -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @predicate
// CHECK-SAME: %[[PREFIX:[a-z0-9]+]]: tensor<?xi32>
// CHECK: %[[ENTRY:.*]] = tensor.extract %[[PREFIX]][%{{.*}}]
// CHECK: %[[P:.*]] = arith.index_cast %[[ENTRY]]
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c8
// CHECK: %[[CAUSAL:.*]] = arith.cmpi sle
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %[[P]]
// CHECK: %[[VISIBLE:.*]] = arith.ori %[[CAUSAL]], %[[INSIDE]]
// CHECK: arith.andi %[[VISIBLE]],
// CHECK-NOT: scf.for
// CHECK: scf.forall.in_parallel
func.func @predicate(%prefix: tensor<?xi32>, %q: tensor<?x2x24xf32>,
    %offsets: tensor<?xi32>, %k: tensor<?x2x16xf32>, %rope: tensor<?x8xf32>,
    %scale: f32, %out: tensor<?x2x16xf32>) -> tensor<?x2x16xf32> {
  %o = mla.prefill #test_mla.prefix_lm parameters(%prefix) queries(%q, %offsets)
      keys(%k, %k, %offsets) rope(%rope) scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = 8,
         order = ascending, probability = f32>}
      : (tensor<?xi32>, tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>,
         tensor<?x2x16xf32>, tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>)
      -> tensor<?x2x16xf32>
  return %o : tensor<?x2x16xf32>
}

// CHECK-LABEL: func.func @ranges
// CHECK: arith.maxsi %{{.*}}, %[[P:.*]] : index
// CHECK: scf.for %{{.*}} = %c0 to %[[OPEN:.*]] step %c32
// CHECK-NOT: linalg.index
// CHECK-NOT: arith.ori
// CHECK: scf.for %{{.*}} = %[[OPEN]] to %{{.*}} step %c8
// CHECK: arith.ori
// CHECK-NOT: scf.for
// CHECK: scf.forall.in_parallel
func.func @ranges(%prefix: tensor<?xi32>, %q: tensor<?x2x24xf32>,
    %offsets: tensor<?xi32>, %k: tensor<?x2x16xf32>, %rope: tensor<?x8xf32>,
    %scale: f32, %out: tensor<?x2x16xf32>) -> tensor<?x2x16xf32> {
  %o = mla.prefill #test_mla.prefix_lm_ranges parameters(%prefix)
      queries(%q, %offsets)
      keys(%k, %k, %offsets) rope(%rope) scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = 8,
         order = ascending, probability = f32>}
      : (tensor<?xi32>, tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>,
         tensor<?x2x16xf32>, tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>)
      -> tensor<?x2x16xf32>
  return %o : tensor<?x2x16xf32>
}
