// What the schedule decides: sizes, the order of the loops, the type in which
// probabilities meet the values. Each op follows its own.

// RUN: mla-opt %s -mla-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x2x24xbf16>
!kv = tensor<?x2x16xbf16>
!out = tensor<?x2x16xf32>

// The guarded part first: its loop starts from nothing, the open one goes on from
// it. The bounds are those of the other order.
// CHECK-LABEL: func.func @guarded_first
// CHECK: mla.locate {{.*}} tile 64
// CHECK: %[[G:.*]]:3 = scf.for %{{.*}} = %[[OPEN:.*]] to %{{.*}} step %c8 iter_args(%{{.*}} = %{{[0-9]+}}, %{{.*}} = %{{[0-9]+}}, %{{.*}} = %{{[0-9]+}}) -> (tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>)
// CHECK: linalg.index
// CHECK: scf.for %{{.*}} = %c0 to %[[OPEN]] step %c32 iter_args(%{{.*}} = %[[G]]#0, %{{.*}} = %[[G]]#1, %{{.*}} = %[[G]]#2)
// CHECK-NOT: linalg.index
// CHECK: scf.forall.in_parallel
func.func @guarded_first(%q: !q, %offsets: tensor<?xi32>, %k: !kv,
    %rope: tensor<?x8xbf16>, %scale: f32, %out: !out) -> !out {
  %o = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = 8,
         order = guarded_first, probability = f32>}
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x8xbf16>, f32, !out) -> !out
  return %o : !out
}

// Probabilities are rounded for the product alone: sums take the unrounded ones
// (MLA-R1).
// CHECK-LABEL: func.func @bf16
// CHECK: mla.locate {{.*}} tile 16
// CHECK: scf.for {{.*}} step %c16
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<16x16xf32>, tensor<16xf32>)
// CHECK: math.exp2
// CHECK: linalg.yield
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[P]] : tensor<16x16xf32>)
// CHECK: arith.addf
// CHECK: %[[P16:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<16x16xf32>) outs(%{{.*}} : tensor<16x16xbf16>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: linalg.matmul ins(%[[P16]], %{{.*}} : tensor<16x16xbf16>, tensor<16x16xbf16>) outs(%{{.*}} : tensor<16x16xf32>)
func.func @bf16(%q: !q, %offsets: tensor<?xi32>, %k: !kv, %rope: tensor<?x8xbf16>,
    %scale: f32, %out: !out) -> !out {
  %o = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 16, key_tile = 16, guarded_key_tile = 16,
         order = ascending, probability = bf16>}
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x8xbf16>, f32, !out) -> !out
  return %o : !out
}
