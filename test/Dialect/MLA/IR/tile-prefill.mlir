// mla.prefill is tiled over its heads: every operand with heads is sliced, all
// others are shared.

// RUN: mla-opt %s -transform-interpreter -canonicalize -cse -split-input-file | FileCheck %s

// CHECK: #[[$MAP:.*]] = affine_map<(d0) -> (-d0 + 6, 4)>
// CHECK-LABEL: func.func @divisible
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x6x24xf32>, %[[IRO:[a-z0-9]+]]: tensor<?xi32>, %[[K:[a-z0-9]+]]: tensor<?x6x16xf32>, %[[V:[a-z0-9]+]]: tensor<?x6x16xf32>, %[[ROPE:[a-z0-9]+]]: tensor<?x8xf32>, %[[SCALE:[a-z0-9]+]]: f32, %[[OUT:[a-z0-9]+]]: tensor<?x6x16xf32>, %[[LSE:[a-z0-9]+]]: tensor<?x6xf32>
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK: %[[R:.*]]:2 = scf.for %[[H:.*]] = %{{.*}} to %[[C6]] step %[[C2]] iter_args(%[[O:.*]] = %[[OUT]], %[[L:.*]] = %[[LSE]])
// CHECK-DAG: %[[QS:.*]] = tensor.extract_slice %[[Q]][0, %[[H]], 0] [%{{.*}}, 2, 24] [1, 1, 1] : tensor<?x6x24xf32> to tensor<?x2x24xf32>
// CHECK-DAG: %[[KS:.*]] = tensor.extract_slice %[[K]][0, %[[H]], 0] [%{{.*}}, 2, 16] [1, 1, 1]
// CHECK-DAG: %[[VS:.*]] = tensor.extract_slice %[[V]][0, %[[H]], 0] [%{{.*}}, 2, 16] [1, 1, 1]
// CHECK-DAG: %[[OS:.*]] = tensor.extract_slice %[[O]][0, %[[H]], 0] [%{{.*}}, 2, 16] [1, 1, 1]
// CHECK-DAG: %[[LS:.*]] = tensor.extract_slice %[[L]][0, %[[H]]] [%{{.*}}, 2] [1, 1]
// CHECK: %[[P:.*]]:2 = mla.prefill #mla.causal queries(%[[QS]], %[[IRO]]) keys(%[[KS]], %[[VS]], %[[IRO]]) rope(%[[ROPE]]) scale(%[[SCALE]]) outs(%[[OS]], %[[LS]])
// CHECK-SAME: -> (tensor<?x2x16xf32>, tensor<?x2xf32>)
// CHECK-DAG: %[[OI:.*]] = tensor.insert_slice %[[P]]#0 into %[[O]][0, %[[H]], 0] [%{{.*}}, 2, 16] [1, 1, 1]
// CHECK-DAG: %[[LI:.*]] = tensor.insert_slice %[[P]]#1 into %[[L]][0, %[[H]]] [%{{.*}}, 2] [1, 1]
// CHECK: scf.yield %[[OI]], %[[LI]]

// The last tile is smaller: heads become dynamic.
// CHECK-LABEL: func.func @not_divisible
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK: scf.for %[[H:.*]] = %{{.*}} to %{{.*}} step %[[C4]]
// CHECK: %[[SIZE:.*]] = affine.min #[[$MAP]](%[[H]])
// CHECK: tensor.extract_slice %{{.*}}[0, %[[H]], 0] [%{{.*}}, %[[SIZE]], 24] [1, 1, 1] : tensor<?x6x24xf32> to tensor<?x?x24xf32>
// CHECK: mla.prefill #mla.causal
// CHECK-SAME: -> tensor<?x?x16xf32>

!q = tensor<?x6x24xf32>
!kv = tensor<?x6x16xf32>
!vec = tensor<?xi32>

func.func @divisible(%q: !q, %offsets: !vec, %k: !kv, %v: !kv, %rope: tensor<?x8xf32>,
    %scale: f32, %out: !kv, %lse: tensor<?x6xf32>) -> (!kv, tensor<?x6xf32>) {
  %0:2 = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %v, %offsets)
      rope(%rope) scale(%scale) outs(%out, %lse) {tile_by_2}
      : (!q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv, tensor<?x6xf32>)
      -> (!kv, tensor<?x6xf32>)
  return %0#0, %0#1 : !kv, tensor<?x6xf32>
}

func.func @not_divisible(%q: !q, %offsets: !vec, %k: !kv, %v: !kv,
    %rope: tensor<?x8xf32>, %scale: f32, %out: !kv) -> !kv {
  %0 = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %v, %offsets)
      rope(%rope) scale(%scale) outs(%out) {tile_by_4}
      : (!q, !vec, !kv, !kv, !vec, tensor<?x8xf32>, f32, !kv) -> !kv
  return %0 : !kv
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %a = transform.structured.match ops{["mla.prefill"]} attributes{tile_by_2} in %root
        : (!transform.any_op) -> !transform.any_op
    %b = transform.structured.match ops{["mla.prefill"]} attributes{tile_by_4} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled_a, %loop_a = transform.structured.tile_using_for %a tile_sizes [2]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %tiled_b, %loop_b = transform.structured.tile_using_for %b tile_sizes [4]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// On memrefs the slices are views and nothing is inserted.
// CHECK-LABEL: func.func @memrefs
// CHECK: scf.for %[[H:.*]] =
// CHECK-COUNT-3: memref.subview %{{.*}}[0, %[[H]], 0]
// CHECK: {{^ *}}mla.prefill #mla.null
// CHECK-SAME: -> ()
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @memrefs(%q: memref<8x6x24xf32>, %offsets: memref<3xi32>,
    %k: memref<8x6x16xf32>, %rope: memref<8x8xf32>, %scale: f32,
    %out: memref<8x6x16xf32>) {
  mla.prefill #mla.null queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (memref<8x6x24xf32>, memref<3xi32>, memref<8x6x16xf32>, memref<8x6x16xf32>,
         memref<3xi32>, memref<8x8xf32>, f32, memref<8x6x16xf32>) -> ()
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %a = transform.structured.match ops{["mla.prefill"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %a tile_sizes [1]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A consumer that works on some heads of the whole result pulls the op into its
// own loop.
// CHECK-LABEL: func.func @fused
// CHECK-NOT: mla.prefill
// CHECK: scf.forall (%[[H:.*]]) in (3)
// CHECK: mla.prefill #mla.null
// CHECK-SAME: -> tensor<8x2x16xf32>
// CHECK: linalg.exp
// CHECK-SAME: outs(%{{.*}} : tensor<8x2x16xf32>)
func.func @fused(%q: tensor<8x6x24xf32>, %offsets: tensor<3xi32>,
    %k: tensor<8x6x16xf32>, %rope: tensor<8x8xf32>, %scale: f32,
    %out: tensor<8x6x16xf32>, %dest: tensor<8x6x16xf32>) -> tensor<8x6x16xf32> {
  %0 = mla.prefill #mla.null queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (tensor<8x6x24xf32>, tensor<3xi32>, tensor<8x6x16xf32>, tensor<8x6x16xf32>,
         tensor<3xi32>, tensor<8x8xf32>, f32, tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
  %1 = linalg.exp ins(%0 : tensor<8x6x16xf32>) outs(%dest : tensor<8x6x16xf32>)
      -> tensor<8x6x16xf32>
  return %1 : tensor<8x6x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %exp = transform.structured.match ops{["linalg.exp"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %exp tile_sizes [0, 2]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %producer = transform.structured.match ops{["mla.prefill"]} in %root
        : (!transform.any_op) -> !transform.any_op
    transform.structured.fuse_into_containing_op %producer into %loop
        : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
