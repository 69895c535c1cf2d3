// Level 1 in full, for the causal mask: the domain, what a work item is, an open
// and a guarded loop over keys, and what is written back.

// RUN: mla-opt %s -mla-to-tile -canonicalize -cse | FileCheck %s
// RUN: mla-opt %s -mla-to-tile -canonicalize -cse | FileCheck %s --check-prefix=LOOPS

// CHECK-DAG: #[[$SEQUENCES:.*]] = affine_map<()[s0] -> (s0 - 1)>
// CHECK-DAG: #[[$ITEMS:.*]] = affine_map<()[s0, s1] -> (s1 + s0 floordiv 32 - 1)>
// CHECK-DAG: #[[$MISSING_QUERIES:.*]] = affine_map<()[s0] -> (-s0 + 32)>
// CHECK-DAG: #[[$WHOLE_TILES:.*]] = affine_map<()[s0] -> ((s0 floordiv 16) * 16)>
// CHECK-DAG: #[[$REST:.*]] = affine_map<()[s0, s1] -> (8, s0 - s1)>
// CHECK-DAG: #[[$MISSING_KEYS:.*]] = affine_map<()[s0] -> (-s0 + 8)>

// CHECK-LABEL: func.func @causal
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x2x24xbf16>, %[[IRO:[a-z0-9]+]]: tensor<?xi32>, %[[K:[a-z0-9]+]]: tensor<?x2x16xbf16>, %[[V:[a-z0-9]+]]: tensor<?x2x16xbf16>, %[[BRO:[a-z0-9]+]]: tensor<?xi32>, %[[CO:[a-z0-9]+]]: tensor<?xi32>, %[[CACHE:[a-z0-9]+]]: tensor<?x1x?x16x1x40xf32>, %[[TABLE:[a-z0-9]+]]: tensor<?x?xi32>, %[[LENGTHS:[a-z0-9]+]]: tensor<?xi32>, %[[LAYER32:[a-z0-9]+]]: i32, %[[SCALE:[a-z0-9]+]]: f32, %[[OUT:[a-z0-9]+]]: tensor<?x2x16xbf16>, %[[LSE:[a-z0-9]+]]: tensor<?x2xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[MINUS_INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32

// The domain comes from shapes: nothing is extracted before the loop. No sequence
// means no item.
// CHECK-NOT: tensor.extract %
// CHECK-DAG: %[[LAYER:.*]] = arith.index_cast %[[LAYER32]]
// CHECK-DAG: %[[FACTOR:.*]] = arith.mulf %[[SCALE]], %[[LOG2E]]
// CHECK-DAG: %[[OFFSETS:.*]] = tensor.dim %[[IRO]], %[[C0]]
// CHECK-DAG: %[[TOKENS:.*]] = tensor.dim %[[Q]], %[[C0]]
// CHECK-DAG: %[[B:.*]] = affine.apply #[[$SEQUENCES]]()[%[[OFFSETS]]]
// CHECK-DAG: %[[BOUND:.*]] = affine.apply #[[$ITEMS]]()[%[[TOKENS]], %[[OFFSETS]]]
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[B]], %[[C0]]
// CHECK: %[[ITEMS:.*]] = arith.select %[[SOME]], %[[BOUND]], %[[C0]]
// CHECK-NOT: tensor.extract %
// CHECK: scf.forall (%[[ITEM:.*]], %[[HEAD:.*]]) in (%[[ITEMS]], 2) shared_outs(%[[O_ALL:.*]] = %[[OUT]], %[[L_ALL:.*]] = %[[LSE]])

// The item: sequence and rows; positions; the number of keys, which is 0 for an
// item past the last.
// CHECK: %[[SEQUENCE:.*]], %[[FIRST:.*]], %[[COUNT:.*]] = mla.locate %[[ITEM]] in %[[IRO]] tile 32
// CHECK: %[[NEXT:.*]] = arith.addi %[[SEQUENCE]], %[[C1]]
// CHECK: tensor.extract %[[IRO]][%[[SEQUENCE]]]
// CHECK: tensor.extract %[[IRO]][%[[NEXT]]]
// CHECK: tensor.extract %[[BRO]][%[[SEQUENCE]]]
// CHECK: tensor.extract %[[BRO]][%[[NEXT]]]
// CHECK: %[[QUERY_ROW:.*]] = arith.addi %{{.*}}, %[[FIRST]]
// CHECK: tensor.extract %[[CO]][%[[SEQUENCE]]]
// CHECK: tensor.extract %[[LENGTHS]][%[[SEQUENCE]]]
// CHECK: %[[QUERY_POS:.*]] = arith.addi %{{.*}}, %[[FIRST]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi sgt, %[[COUNT]], %[[C0]]
// CHECK: %[[KEYS:.*]] = arith.select %[[EXISTS]], %{{.*}}, %[[C0]]

// Queries: a slice of the valid rows, padded with zeros. Slices know what their operand
// is called.
// CHECK: %[[Q_ROWS:.*]] = tensor.extract_slice %[[Q]][%[[QUERY_ROW]], %[[HEAD]], 0] [%[[COUNT]], 1, 24] [1, 1, 1] {mla.operand = "q"}
// CHECK: %[[MISSING:.*]] = affine.apply #[[$MISSING_QUERIES]]()[%[[COUNT]]]
// CHECK: %[[Q_TILE:.*]] = tensor.pad %[[Q_ROWS]] low[0, 0] high[%[[MISSING]], 0]
// CHECK: %[[Q_NOPE:.*]] = tensor.extract_slice %[[Q_TILE]][0, 0] [32, 16] [1, 1]
// CHECK: %[[Q_ROPE:.*]] = tensor.extract_slice %[[Q_TILE]][0, 16] [32, 8] [1, 1]

// The mask's answer: all queries see keys up to the first query's position, some
// see keys up to the last one's. The open part is whole tiles.
// CHECK: %[[END:.*]] = arith.addi %[[QUERY_POS]], %[[COUNT]]
// CHECK: %[[OPEN_END:.*]] = arith.addi %[[QUERY_POS]], %[[C1]]
// CHECK: arith.subi %[[OPEN_END]], %{{.*}}
// CHECK: arith.minsi %{{.*}}, %[[KEYS]]
// CHECK: arith.subi %[[END]], %{{.*}}
// CHECK: arith.minsi %{{.*}}, %[[KEYS]]
// CHECK: %[[LAST:.*]] = arith.maxsi
// CHECK: %[[WHOLE:.*]] = affine.apply #[[$WHOLE_TILES]]
// CHECK: %[[OPEN:.*]] = arith.maxsi %[[WHOLE]], %[[C0]]

// The open loop: static slices, no padding, no predicate.
// CHECK: %[[R:.*]]:3 = scf.for %[[KEY:.*]] = %[[C0]] to %[[OPEN]] step %[[C16]] iter_args(%[[ACC:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}})
// CHECK: %[[ROW:.*]] = arith.addi %[[KEY_ROW:.*]], %[[KEY]]
// CHECK: %[[K_TILE:.*]] = tensor.extract_slice %[[K]][%[[ROW]], %[[HEAD]], 0] [16, 1, 16] [1, 1, 1] {mla.operand = "k"}
// CHECK: %[[POS:.*]] = arith.addi %{{.*}}, %[[KEY]]
// CHECK: %[[ROPE:.*]] = mla.gather_pages %[[CACHE]][layer %[[LAYER]], column 32] through %[[TABLE]][%[[SEQUENCE]]] rows(%[[POS]], %[[C16]]) {{.*}} {mla.operand = "kv_blocks"}
// CHECK: %[[V_TILE:.*]] = tensor.extract_slice %[[V]][%[[ROW]], %[[HEAD]], 0] [16, 1, 16] [1, 1, 1] {mla.operand = "v"}
// CHECK: %[[S0:.*]] = linalg.matmul indexing_maps = {{.*}} ins(%[[Q_NOPE]], %[[K_TILE]] :
// CHECK: %[[S:.*]] = linalg.matmul indexing_maps = {{.*}} ins(%[[Q_ROPE]], %[[ROPE]] : {{.*}}) outs(%[[S0]] :
// CHECK: %[[M1:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[S]] : {{.*}}) outs(%[[M]] :
// CHECK: arith.maximumf
// The reference is finite for a row that has seen no key.
// CHECK: %[[REF:.*]] = linalg.generic {{.*}} ins(%[[M1]] :
// CHECK: arith.cmpf oeq, %{{.*}}, %[[MINUS_INF]]
// CHECK: arith.select %{{.*}}, %[[ZERO]]
// CHECK: arith.mulf %{{.*}}, %[[FACTOR]]
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[REF]] :
// CHECK: math.fma %{{.*}}, %[[FACTOR]]
// CHECK: math.exp2
// CHECK: %[[CORRECTION:.*]] = linalg.generic {{.*}} ins(%[[M]], %[[REF]] :
// CHECK: math.exp2
// CHECK: %[[L_SCALED:.*]] = linalg.generic {{.*}} ins(%[[L]], %[[CORRECTION]] :
// CHECK: %[[L1:.*]] = linalg.generic {{.*}} ins(%[[P]] : {{.*}}) outs(%[[L_SCALED]] :
// CHECK: arith.addf
// CHECK: %[[ACC_SCALED:.*]] = linalg.generic {{.*}} ins(%[[ACC]], %[[CORRECTION]] :
// CHECK-NOT: arith.truncf
// CHECK: %[[ACC1:.*]] = linalg.matmul ins(%[[P]], %[[V_TILE]] : {{.*}}) outs(%[[ACC_SCALED]] :
// CHECK: scf.yield %[[ACC1]], %[[M1]], %[[L1]]
// CHECK-NEXT: }

// The guarded loop goes on from there: padded slices, scores selected.
// CHECK: %[[G:.*]]:3 = scf.for %[[KEY:.*]] = %[[OPEN]] to %[[LAST]] step %[[C8]] iter_args(%{{.*}} = %[[R]]#0, %{{.*}} = %[[R]]#1, %{{.*}} = %[[R]]#2)
// CHECK: %[[N:.*]] = affine.min #[[$REST]]()[%[[LAST]], %[[KEY]]]
// CHECK: %[[ROW:.*]] = arith.addi %[[KEY_ROW]], %[[KEY]]
// CHECK: %[[K_ROWS:.*]] = tensor.extract_slice %[[K]][%[[ROW]], %[[HEAD]], 0] [%[[N]], 1, 16] [1, 1, 1] {mla.operand = "k"}
// CHECK: %[[MISSING:.*]] = affine.apply #[[$MISSING_KEYS]]()[%[[N]]]
// CHECK: tensor.pad %[[K_ROWS]] low[0, 0] high[%[[MISSING]], 0]
// CHECK: %[[POS:.*]] = arith.addi %{{.*}}, %[[KEY]]
// CHECK: mla.gather_pages %[[CACHE]]{{.*}} rows(%[[POS]], %[[N]])
// CHECK: %[[V_ROWS:.*]] = tensor.extract_slice %[[V]][%[[ROW]], %[[HEAD]], 0] [%[[N]], 1, 16] [1, 1, 1] {mla.operand = "v"}
// CHECK: %[[V_TILE:.*]] = tensor.pad %[[V_ROWS]] low[0, 0] high[%{{.*}}, 0]
// CHECK: tensor.yield %cst{{.*}} : bf16
// CHECK: %[[S:.*]] = linalg.matmul {{.*}} ins(%[[Q_ROPE]],
// CHECK: %[[MASKED:.*]] = linalg.generic {{.*}} ins(%[[S]] :
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[QP:.*]] = arith.addi %[[QUERY_POS]], %[[I]]
// CHECK: %[[KP:.*]] = arith.addi %[[POS]], %[[J]]
// CHECK: %[[VISIBLE:.*]] = arith.cmpi sle, %[[KP]], %[[QP]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[J]], %[[N]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[VISIBLE]], %[[INSIDE]]
// CHECK: arith.select %[[BOTH]], %{{.*}}, %[[MINUS_INF]]
// CHECK: linalg.generic {{.*}} ins(%[[MASKED]] :
// CHECK: linalg.matmul ins(%{{.*}}, %[[V_TILE]] :
// CHECK: scf.yield

// The quotient by one division a row, 0 where no key was seen; the normaliser from
// maximum and sum.
// CHECK: %[[INVERSE:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[G]]#2 :
// CHECK: ^bb0(%[[SUM:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[SUM]], %[[ZERO]]
// CHECK: %[[QUOTIENT:.*]] = arith.divf %[[ONE]], %[[SUM]]
// CHECK: arith.select %[[NONE]], %[[ZERO]], %[[QUOTIENT]]
// CHECK: %[[O_TILE:.*]] = linalg.generic {{.*}} ins(%[[G]]#0, %[[INVERSE]] :
// CHECK: arith.mulf
// CHECK-NOT: arith.divf
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: %[[L_TILE:.*]] = linalg.generic {{.*}} ins(%[[G]]#1, %[[G]]#2 :
// CHECK: arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: math.log
// Only rows that exist are written.
// CHECK: %[[O_ROWS:.*]] = tensor.extract_slice %[[O_TILE]][0, 0] [%[[COUNT]], 16] [1, 1]
// CHECK: %[[L_ROWS:.*]] = tensor.extract_slice %[[L_TILE]][0] [%[[COUNT]]] [1]
// CHECK: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice %[[O_ROWS]] into %[[O_ALL]][%[[QUERY_ROW]], %[[HEAD]], 0] [%[[COUNT]], 1, 16] [1, 1, 1]
// CHECK-NEXT: tensor.parallel_insert_slice %[[L_ROWS]] into %[[L_ALL]][%[[QUERY_ROW]], %[[HEAD]]] [%[[COUNT]], 1] [1, 1]
// CHECK-NOT: mla.prefill

// LOOPS: scf.for {{.*}} step %c16
// LOOPS-NOT: tensor.pad
// LOOPS-NOT: linalg.index
// LOOPS-NOT: arith.cmpi
// LOOPS: scf.for {{.*}} step %c8
// LOOPS: linalg.index
// LOOPS-NOT: scf.for
// LOOPS: scf.forall.in_parallel

func.func @causal(%q: tensor<?x2x24xbf16>, %iro: tensor<?xi32>,
    %k: tensor<?x2x16xbf16>, %v: tensor<?x2x16xbf16>, %bro: tensor<?xi32>,
    %co: tensor<?xi32>, %cache: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %lengths: tensor<?xi32>, %layer: i32, %scale: f32, %out: tensor<?x2x16xbf16>,
    %lse: tensor<?x2xf32>) -> (tensor<?x2x16xbf16>, tensor<?x2xf32>) {
  %o:2 = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro, %co)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out, %lse)
      {schedule = #mla.schedule<query_tile = 32, key_tile = 16, guarded_key_tile = 8,
         order = ascending, probability = f32>}
      : (tensor<?x2x24xbf16>, tensor<?xi32>, tensor<?x2x16xbf16>,
         tensor<?x2x16xbf16>, tensor<?xi32>, tensor<?xi32>,
         tensor<?x1x?x16x1x40xf32>, tensor<?x?xi32>, tensor<?xi32>, i32, f32,
         tensor<?x2x16xbf16>, tensor<?x2xf32>)
      -> (tensor<?x2x16xbf16>, tensor<?x2xf32>)
  return %o#0, %o#1 : tensor<?x2x16xbf16>, tensor<?x2xf32>
}
