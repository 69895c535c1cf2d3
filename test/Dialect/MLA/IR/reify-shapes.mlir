// The extents of a result are those of its destination.

// RUN: mla-opt %s -resolve-ranked-shaped-type-result-dims -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @prefill
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: tensor<?x?x16xf32>, %[[LSE:[a-z0-9]+]]: tensor<?x?xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[TOKENS:.*]] = tensor.dim %[[OUT]], %[[C0]]
// CHECK-DAG: %[[HEADS:.*]] = tensor.dim %[[LSE]], %[[C1]]
// CHECK: return %[[TOKENS]], %[[HEADS]] : index, index
func.func @prefill(%q: tensor<?x?x24xf32>, %offsets: tensor<?xi32>,
    %k: tensor<?x?x16xf32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x?x16xf32>, %lse: tensor<?x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out, %lse)
      : (tensor<?x?x24xf32>, tensor<?xi32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x?x16xf32>, tensor<?x?xf32>)
      -> (tensor<?x?x16xf32>, tensor<?x?xf32>)
  %tokens = tensor.dim %0#0, %c0 : tensor<?x?x16xf32>
  %heads = tensor.dim %0#1, %c1 : tensor<?x?xf32>
  return %tokens, %heads : index, index
}

// CHECK-LABEL: func.func @gather_pages
// CHECK-SAME: %[[DEST:[a-z0-9]+]]: tensor<?x8xf32>
// CHECK: %[[ROWS:.*]] = tensor.dim %[[DEST]], %{{.*}}
// CHECK: return %[[ROWS]] : index
func.func @gather_pages(%cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %i: index, %dest: tensor<?x8xf32>) -> index {
  %c0 = arith.constant 0 : index
  %r = mla.gather_pages %cache[layer %i, column 32] through %table[%i]
      rows(%i, %i) outs(%dest)
      : tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %rows = tensor.dim %r, %c0 : tensor<?x8xf32>
  return %rows : index
}
