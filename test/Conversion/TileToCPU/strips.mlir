// Tiles [queries, columns] become [strips, columns, strip], a lane per query, and
// each loop over keys gets a loop over strips inside. Keys and values, which all
// strips share, are packed before it as rows of f32.

// RUN: mla-opt %s -mla-cpu-strips -canonicalize -cse | FileCheck %s

// CHECK-DAG: #[[$QK_K:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$LANES:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$SCORES:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$PV_V:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @strips
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x8xbf16>, %[[K:[a-z0-9]+]]: tensor<?x8xbf16>, %[[V:[a-z0-9]+]]: tensor<?x24xbf16>, %{{[a-z0-9]+}}: index, %[[COUNT:[a-z0-9]+]]: index, %[[KEYS:[a-z0-9]+]]: index
// CHECK: scf.forall

// Only the strips that hold one of the queries.
// CHECK: %[[ACTIVE:.*]] = arith.ceildivsi %[[COUNT]], %c16
// Queries enter: extended to f32, zero past the last one, transposed.
// CHECK: tensor.extract_slice %[[Q]]
// CHECK: linalg.copy ins(%{{.*}} : tensor<?x8xbf16>) outs(%{{.*}} : tensor<?x8xf32>)
// CHECK: linalg.fill
// CHECK: %[[Q_TILE:.*]] = scf.for %{{.*}} = %c0 to %[[ACTIVE]] step %c1 iter_args(%{{.*}} = %{{.*}}) -> (tensor<4x8x16xf32>)
// CHECK: linalg.transpose ins(%{{.*}} : tensor<16x8xf32>) outs(%{{.*}} : tensor<8x16xf32>) permutation = [1, 0]

// The loop over keys carries packed tiles.
// CHECK: %[[W:.*]]:2 = scf.for %[[KEY:.*]] = %c0 to %[[KEYS]] step %c16 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<4x24x16xf32>, tensor<4x16xf32>)
// CHECK: %[[K_ROWS:.*]] = tensor.extract_slice %[[K]][%[[KEY]], 0]
// CHECK: %[[V_ROWS:.*]] = tensor.extract_slice %[[V]][%[[KEY]], 0]
// A tile of keys that no query sees is not even packed: the predicate, at the last
// query, decides.
// CHECK: %[[SEEN:.*]] = arith.cmpi sle, %[[KEY]], %{{.*}}
// CHECK: scf.if %[[SEEN]]
// CHECK: %[[K_F32:.*]] = linalg.copy ins(%[[K_ROWS]] : tensor<16x8xbf16>) outs(%{{.*}} : tensor<16x8xf32>)
// CHECK: %[[V_F32:.*]] = linalg.copy ins(%[[V_ROWS]] : tensor<16x24xbf16>) outs(%{{.*}} : tensor<16x24xf32>)
// CHECK: scf.for %[[S:.*]] = %c0 to %[[ACTIVE]] step %c1
// Nor is a strip computed that sees none of them.
// CHECK: %[[FIRST:.*]] = arith.muli %[[S]], %c16
// CHECK: %[[LAST:.*]] = arith.addi %[[FIRST]], %c15
// CHECK: %[[SEEN:.*]] = arith.cmpi sle, %[[KEY]], %[[LAST]]
// CHECK: scf.if %[[SEEN]]
// CHECK-DAG: %[[ACC:.*]] = tensor.extract_slice %{{.*}}[%[[S]], 0, 0] [1, 24, 16] [1, 1, 1] : tensor<4x24x16xf32> to tensor<24x16xf32>
// CHECK-DAG: %[[MAX:.*]] = tensor.extract_slice %{{.*}}[%[[S]], 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<16xf32>
// CHECK-DAG: %[[Q_STRIP:.*]] = tensor.extract_slice %[[Q_TILE]][%[[S]], 0, 0] [1, 8, 16] [1, 1, 1]
// Scores are [keys, lanes]: the keys' elements are broadcast over the lanes.
// CHECK: %[[SCORES:.*]] = linalg.generic {indexing_maps = [#[[$QK_K]], #[[$LANES]], #[[$SCORES]]], {{.*}}} ins(%[[K_F32]], %[[Q_STRIP]] : tensor<16x8xf32>, tensor<8x16xf32>) outs(%{{.*}} : tensor<16x16xf32>)
// The op of the mask keeps its body: dimension 1 is the query now.
// CHECK: %[[MASKED:.*]] = linalg.generic {{.*}} outs(%[[SCORES]] : tensor<16x16xf32>)
// CHECK: %[[LANE:.*]] = linalg.index 1
// CHECK: %[[QUERY:.*]] = arith.addi %[[FIRST]], %[[LANE]]
// CHECK: %[[COLUMN:.*]] = linalg.index 0
// CHECK: %[[KP:.*]] = arith.addi %[[KEY]], %[[COLUMN]]
// CHECK: arith.cmpi sle, %[[KP]], %[[QUERY]]
// A reduction over keys runs along rows, in place.
// CHECK: %[[MAX1:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[$ROW]]], iterator_types = ["reduction", "parallel"]} ins(%[[MASKED]] : tensor<16x16xf32>) outs(%[[MAX]] : tensor<16xf32>)
// CHECK: %[[ACC1:.*]] = linalg.generic {indexing_maps = [#[[$PV_V]], #[[$LANES]], #[[$SCORES]]], {{.*}}} ins(%[[V_F32]], %[[MASKED]] : {{.*}}) outs(%[[ACC]] : tensor<24x16xf32>)
// CHECK-DAG: tensor.insert_slice %[[ACC1]] into %{{.*}}[%[[S]], 0, 0]
// CHECK-DAG: tensor.insert_slice %[[MAX1]] into %{{.*}}[%[[S]], 0]

// What leaves is [queries, columns] again, and copied into the destination.
// CHECK: linalg.transpose ins(%{{.*}} : tensor<24x16xf32>) outs(%{{.*}} : tensor<16x24xf32>) permutation = [1, 0]
// CHECK: %[[VALID:.*]] = tensor.extract_slice %{{.*}}[0, 0] [%[[COUNT]], 24] [1, 1] : tensor<64x24xf32>
// CHECK: %[[DEST:.*]] = tensor.extract_slice
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[VALID]] : tensor<?x24xf32>) outs(%[[DEST]] : tensor<?x24xf32>)
// CHECK: tensor.parallel_insert_slice %[[COPY]] into
// CHECK-NOT: bf16

#rows = affine_map<(r, c) -> (r)>
#tile = affine_map<(r, c) -> (r, c)>
#qk_q = affine_map<(m, n, k) -> (m, k)>
#qk_k = affine_map<(m, n, k) -> (n, k)>
#qk_s = affine_map<(m, n, k) -> (m, n)>

func.func @strips(%q: tensor<?x8xbf16>, %k: tensor<?x8xbf16>, %v: tensor<?x24xbf16>,
    %n: index, %count: index, %keys: index, %out: tensor<?x24xf32>)
    -> tensor<?x24xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %zero16 = arith.constant 0.0 : bf16
  %minus_inf = arith.constant 0xFF800000 : f32
  %missing = arith.subi %c64, %count : index
  %r = scf.forall (%i, %h) in (%n, 2) shared_outs(%o = %out) -> (tensor<?x24xf32>) {
    %row = arith.muli %i, %c64 : index
    %q_rows = tensor.extract_slice %q[%row, 0] [%count, 8] [1, 1] : tensor<?x8xbf16> to tensor<?x8xbf16>
    %qt = tensor.pad %q_rows low[0, 0] high[%missing, 0] {
    ^bb0(%x: index, %y: index):
      tensor.yield %zero16 : bf16
    } : tensor<?x8xbf16> to tensor<64x8xbf16>
    %e_acc = tensor.empty() : tensor<64x24xf32>
    %e_max = tensor.empty() : tensor<64xf32>
    %e_s = tensor.empty() : tensor<64x16xf32>
    %acc0 = linalg.fill ins(%zero : f32) outs(%e_acc : tensor<64x24xf32>) -> tensor<64x24xf32>
    %max0 = linalg.fill ins(%minus_inf : f32) outs(%e_max : tensor<64xf32>) -> tensor<64xf32>
    %w:2 = scf.for %j = %c0 to %keys step %c16 iter_args(%acc = %acc0, %max = %max0)
        -> (tensor<64x24xf32>, tensor<64xf32>) {
      %kt = tensor.extract_slice %k[%j, 0] [16, 8] [1, 1] : tensor<?x8xbf16> to tensor<16x8xbf16>
      %vt = tensor.extract_slice %v[%j, 0] [16, 24] [1, 1] : tensor<?x24xbf16> to tensor<16x24xbf16>
      %s0 = linalg.fill ins(%zero : f32) outs(%e_s : tensor<64x16xf32>) -> tensor<64x16xf32>
      %s1 = linalg.matmul indexing_maps = [#qk_q, #qk_k, #qk_s]
          ins(%qt, %kt : tensor<64x8xbf16>, tensor<16x8xbf16>)
          outs(%s0 : tensor<64x16xf32>) -> tensor<64x16xf32>
      %s = linalg.generic {indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}
          ins(%s1 : tensor<64x16xf32>) outs(%e_s : tensor<64x16xf32>) {
      ^bb0(%x: f32, %old: f32):
        %query = linalg.index 0 : index
        %column = linalg.index 1 : index
        %key = arith.addi %j, %column : index
        %visible = arith.cmpi sle, %key, %query : index
        %y = arith.select %visible, %x, %minus_inf : f32
        linalg.yield %y : f32
      } -> tensor<64x16xf32>
      %max1 = linalg.generic {indexing_maps = [#tile, #rows], iterator_types = ["parallel", "reduction"]}
          ins(%s : tensor<64x16xf32>) outs(%max : tensor<64xf32>) {
      ^bb0(%x: f32, %old: f32):
        %y = arith.maximumf %x, %old : f32
        linalg.yield %y : f32
      } -> tensor<64xf32>
      %acc1 = linalg.matmul ins(%s, %vt : tensor<64x16xf32>, tensor<16x24xbf16>)
          outs(%acc : tensor<64x24xf32>) -> tensor<64x24xf32>
      scf.yield %acc1, %max1 : tensor<64x24xf32>, tensor<64xf32>
    } {mla.skip_masked}
    %scaled = linalg.generic {indexing_maps = [#tile, #rows, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%w#0, %w#1 : tensor<64x24xf32>, tensor<64xf32>) outs(%e_acc : tensor<64x24xf32>) {
    ^bb0(%x: f32, %y: f32, %old: f32):
      %z = arith.divf %x, %y : f32
      linalg.yield %z : f32
    } -> tensor<64x24xf32>
    %valid = tensor.extract_slice %scaled[0, 0] [%count, 24] [1, 1] : tensor<64x24xf32> to tensor<?x24xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %valid into %o[%row, 0] [%count, 24] [1, 1] : tensor<?x24xf32> into tensor<?x24xf32>
    }
  } {mla.vector_schedule = #mla.vector_schedule<strip = 16, block = 4>}
  return %r : tensor<?x24xf32>
}
