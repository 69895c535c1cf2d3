// From the first query's chunk to the end of the last one's. If they are the same,
// all of it is open; else the predicate decides everywhere.

// RUN: mla-opt %s -mla-to-tile -canonicalize -cse | FileCheck %s

// CHECK-DAG: #[[$UP:.*]] = affine_map<()[s0] -> ((s0 ceildiv 16) * 16)>
// CHECK-DAG: #[[$DOWN:.*]] = affine_map<()[s0] -> ((s0 floordiv 16) * 16)>
// CHECK-DAG: #[[$REST:.*]] = affine_map<()[s0, s1] -> (8, s0 - s1)>
// CHECK-LABEL: func.func @chunked
// CHECK: %{{.*}}, %[[FIRST:.*]], %[[COUNT:.*]] = mla.locate
// MLA-R4: without lengths the last query stands at the last key.
// CHECK: %[[CACHED:.*]] = arith.subi %[[ROWS:.*]], %[[ROWS]]
// CHECK: %[[FIRST_POS:.*]] = arith.addi %[[CACHED]], %[[FIRST]]
// CHECK: %[[KEYS:.*]] = arith.select %{{.*}}, %{{.*}}, %c0
// CHECK: %[[WINDOW:.*]] = arith.index_cast %arg0
// CHECK: %[[END:.*]] = arith.addi %[[FIRST_POS]], %[[COUNT]]
// CHECK: %[[LAST_POS:.*]] = arith.subi %[[END]], %c1
// CHECK: %[[A:.*]] = arith.floordivsi %[[FIRST_POS]], %[[WINDOW]]
// CHECK: %[[BEGIN:.*]] = arith.muli %[[A]], %[[WINDOW]]
// CHECK: %[[B:.*]] = arith.floordivsi %[[LAST_POS]], %[[WINDOW]]
// CHECK: %[[LAST_BEGIN:.*]] = arith.muli %[[B]], %[[WINDOW]]
// CHECK: %[[CHUNK_END:.*]] = arith.addi %[[LAST_BEGIN]], %[[WINDOW]]
// CHECK: %[[ONE_CHUNK:.*]] = arith.cmpi eq, %[[BEGIN]], %[[LAST_BEGIN]]
// CHECK: %[[OPEN_END:.*]] = arith.select %[[ONE_CHUNK]], %[[CHUNK_END]], %[[BEGIN]]
// CHECK: %{{.*}} = arith.maxsi %[[BEGIN]], %c0
// CHECK: %{{.*}} = arith.maxsi %[[OPEN_END]], %c0
// CHECK: %{{.*}} = arith.maxsi %[[CHUNK_END]], %c0
// CHECK: affine.apply #[[$UP]]
// CHECK: %[[OPEN_KEY:.*]] = arith.maxsi
// CHECK: affine.apply #[[$DOWN]]
// CHECK: %[[CLOSE_KEY:.*]] = arith.maxsi %[[OPEN_KEY]], %{{.*}}
// CHECK: scf.for %[[KEY:.*]] = %{{.*}} to %[[OPEN_KEY]] step %c8
// CHECK: %[[N:.*]] = affine.min #[[$REST]]()[%[[OPEN_KEY]], %[[KEY]]]
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[QP:.*]] = arith.addi %[[FIRST_POS]], %[[I]]
// CHECK: %[[KP:.*]] = arith.addi %[[KEY]], %[[J]]
// CHECK: %[[QC:.*]] = arith.floordivsi %[[QP]], %[[WINDOW]]
// CHECK: %[[CHUNK:.*]] = arith.muli %[[QC]], %[[WINDOW]]
// CHECK: %[[FROM:.*]] = arith.cmpi sle, %[[CHUNK]], %[[KP]]
// CHECK: %[[NEXT_CHUNK:.*]] = arith.addi %[[CHUNK]], %[[WINDOW]]
// CHECK: %[[TO:.*]] = arith.cmpi slt, %[[KP]], %[[NEXT_CHUNK]]
// CHECK: %[[VISIBLE:.*]] = arith.andi %[[FROM]], %[[TO]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[J]], %[[N]]
// CHECK: %[[OK:.*]] = arith.andi %[[VISIBLE]], %[[INSIDE]]
// CHECK: arith.select %[[OK]], %{{.*}}, %cst
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %[[OPEN_KEY]] to %[[CLOSE_KEY]] step %c16
// CHECK-NOT: linalg.index
// CHECK-NOT: arith.cmpi
// CHECK: scf.for %[[KEY:.*]] = %[[CLOSE_KEY]] to %[[END_KEY:.*]] step %c8
// CHECK: %[[N:.*]] = affine.min #[[$REST]]()[%[[END_KEY]], %[[KEY]]]
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[QP:.*]] = arith.addi %[[FIRST_POS]], %[[I]]
// CHECK: %[[KP:.*]] = arith.addi %[[KEY]], %[[J]]
// CHECK: %[[QC:.*]] = arith.floordivsi %[[QP]], %[[WINDOW]]
// CHECK: %[[CHUNK:.*]] = arith.muli %[[QC]], %[[WINDOW]]
// CHECK: %[[FROM:.*]] = arith.cmpi sle, %[[CHUNK]], %[[KP]]
// CHECK: %[[NEXT_CHUNK:.*]] = arith.addi %[[CHUNK]], %[[WINDOW]]
// CHECK: %[[TO:.*]] = arith.cmpi slt, %[[KP]], %[[NEXT_CHUNK]]
// CHECK: %[[VISIBLE:.*]] = arith.andi %[[FROM]], %[[TO]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[J]], %[[N]]
// CHECK: %[[OK:.*]] = arith.andi %[[VISIBLE]], %[[INSIDE]]
// CHECK: arith.select %[[OK]], %{{.*}}, %cst
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: scf.forall.in_parallel
func.func @chunked(%w: i32, %q: tensor<?x2x24xf32>, %offsets: tensor<?xi32>,
    %k: tensor<?x2x16xf32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) -> tensor<?x2x16xf32> {
  %o = mla.prefill #mla.chunked parameters(%w) queries(%q, %offsets)
      keys(%k, %k, %offsets) rope(%rope) scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 32, key_tile = 16, guarded_key_tile = 8,
         order = ascending, probability = f32>}
      : (i32, tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>,
         tensor<?x2x16xf32>, tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>)
      -> tensor<?x2x16xf32>
  return %o : tensor<?x2x16xf32>
}
