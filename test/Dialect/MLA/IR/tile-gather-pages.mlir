// mla.gather_pages is tiled over rows, which moves the first position and what is
// left to read, and over columns in steps that are known when it is compiled.

// RUN: mla-opt %s -transform-interpreter -canonicalize -cse -split-input-file \
// RUN:   -verify-diagnostics | FileCheck %s

// CHECK-DAG: #[[$NEXT:.*]] = affine_map<()[s0, s1] -> (s0 + s1)>
// CHECK-DAG: #[[$LEFT:.*]] = affine_map<()[s0, s1] -> (s0 - s1)>
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[SEQUENCE:[a-z0-9]+]]: index, %[[LAYER:[a-z0-9]+]]: index, %[[POSITION:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index, %[[DEST:[a-z0-9]+]]: tensor<32x8xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK: scf.for %[[R:.*]] = %[[C0]] to %{{.*}} step %[[C16]] iter_args(%[[D:.*]] = %[[DEST]])
// CHECK-DAG: %[[PART:.*]] = tensor.extract_slice %[[D]][%[[R]], 0] [16, 8] [1, 1]
// CHECK-DAG: %[[P:.*]] = affine.apply #[[$NEXT]]()[%[[POSITION]], %[[R]]]
// CHECK-DAG: %[[L:.*]] = affine.apply #[[$LEFT]]()[%[[COUNT]], %[[R]]]
// CHECK: %[[N:.*]] = arith.maxsi %[[L]], %[[C0]]
// CHECK: %[[G:.*]] = mla.gather_pages %{{.*}}[layer %[[LAYER]], column 32] through %{{.*}}[%[[SEQUENCE]]] rows(%[[P]], %[[N]]) outs(%[[PART]])
// CHECK: tensor.insert_slice %[[G]] into %[[D]][%[[R]], 0] [16, 8] [1, 1]
func.func @rows(%cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %sequence: index, %layer: index, %position: index, %count: index,
    %dest: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %r = mla.gather_pages %cache[layer %layer, column 32] through %table[%sequence]
      rows(%position, %count) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<32x8xf32> -> tensor<32x8xf32>
  return %r : tensor<32x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %a = transform.structured.match ops{["mla.gather_pages"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %a tile_sizes [16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A column that moves with a loop cannot be an attribute: tiling is refused.
func.func @columns(%cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<32x8xf32>) -> tensor<32x8xf32> {
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<32x8xf32> -> tensor<32x8xf32>
  return %r : tensor<32x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %a = transform.structured.match ops{["mla.gather_pages"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %a tile_sizes [0, 4]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
