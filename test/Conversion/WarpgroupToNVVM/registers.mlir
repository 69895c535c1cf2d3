// A thread holds pairs of neighbours of two rows, 8 apart: a scalar body is written out
// for each element, a row is combined in the thread and then across its four threads.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK: llvm.func @registers
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: !llvm.ptr, %{{.*}}: i64)
// CHECK-SAME: mla.shared_bytes = 0 : i64
// CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK: %[[THREAD:.*]] = arith.index_castui %[[TID]]
// The warp's number is broadcast, so that it is known to be the same in all lanes.
// CHECK: %[[MAYBE_WARP:.*]] = arith.divui %[[TID]], %c32_i32
// CHECK: %[[WARP32:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[MAYBE_WARP]], %c0_i32, %c31_i32
// CHECK: %[[WARP:.*]] = arith.index_castui %[[WARP32]]
// CHECK: %[[LANE:.*]] = arith.remui %[[THREAD]], %c32
// CHECK: %[[QUAD:.*]] = arith.divui %[[LANE]], %c4
// CHECK: %[[FIRST:.*]] = arith.muli %[[WARP]], %c16
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[QUAD]]
// CHECK: %[[IN_QUAD:.*]] = arith.remui %[[LANE]], %c4
// CHECK: %[[COLUMN:.*]] = arith.muli %[[IN_QUAD]], %c2
// CHECK: %[[N:.*]] = builtin.unrealized_conversion_cast %{{.*}} : i64 to index

// Eight elements: two, two of the row below, and the same eight columns on.
// CHECK: %[[C0:.*]] = arith.cmpi ule, %[[COLUMN]], %[[ROW]]
// CHECK: %[[E0:.*]] = arith.select %[[C0]], %[[X]], %[[Y]]
// CHECK: %[[COLUMN1:.*]] = arith.addi %[[COLUMN]], %c1
// CHECK: %[[C1:.*]] = arith.cmpi ule, %[[COLUMN1]], %[[ROW]]
// CHECK: %[[E1:.*]] = arith.select %[[C1]], %[[X]], %[[Y]]
// CHECK: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8
// CHECK: arith.cmpi ule, %[[COLUMN]], %[[ROW8]]
// CHECK: arith.cmpi ule, %[[COLUMN1]], %[[ROW8]]
// CHECK: %[[COLUMN8:.*]] = arith.addi %[[COLUMN]], %c8
// CHECK: arith.cmpi ule, %[[COLUMN8]], %[[ROW]]
// CHECK: arith.cmpi ule, %{{.*}}, %[[ROW]]
// CHECK: arith.cmpi ule, %[[COLUMN8]], %[[ROW8]]
// CHECK: arith.cmpi ule, %{{.*}}, %[[ROW8]]

// Four elements a row: by pairs, then the pairs.
// CHECK-COUNT-3: arith.maximumf
// CHECK: %[[S1:.*]] = nvvm.shfl.sync bfly %c-1_i32, %[[M0:.*]], %c1_i32, %c31_i32 : f32 -> f32
// CHECK: %[[M1:.*]] = arith.maximumf %[[S1]], %[[M0]]
// CHECK: %[[S2:.*]] = nvvm.shfl.sync bfly %c-1_i32, %[[M1]], %c2_i32, %c31_i32 : f32 -> f32
// CHECK: %[[M2:.*]] = arith.maximumf %[[S2]], %[[M1]]
// CHECK: %[[UPPER:.*]] = arith.maximumf %[[M2]], %[[Y]]
// CHECK-COUNT-3: arith.maximumf
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %c1_i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %c2_i32
// CHECK: %[[LOWER:.*]] = arith.maximumf %{{.*}}, %[[Y]]
// CHECK-NOT: nvvm.shfl

// 16-bit pairs are words, made before any branch.
// CHECK: %[[H0:.*]] = arith.truncf %[[E0]] : f32 to bf16
// CHECK-NEXT: %[[H1:.*]] = arith.truncf %[[E1]] : f32 to bf16
// CHECK-NEXT: %[[H2:.*]] = arith.truncf
// CHECK-NEXT: %[[H3:.*]] = arith.truncf
// CHECK-NEXT: %[[H4:.*]] = arith.truncf
// CHECK-NEXT: %[[H5:.*]] = arith.truncf
// CHECK-NEXT: %[[H6:.*]] = arith.truncf
// CHECK-NEXT: %[[H7:.*]] = arith.truncf
// CHECK: %[[P0:.*]] = vector.from_elements %[[H0]], %[[H1]] : vector<2xbf16>
// CHECK-NEXT: %[[V0:.*]] = vector.bitcast %[[P0]] : vector<2xbf16> to vector<1xi32>
// CHECK-NEXT: %[[W0:.*]] = vector.extract %[[V0]][0]
// CHECK-NEXT: %[[P1:.*]] = vector.from_elements %[[H2]], %[[H3]] : vector<2xbf16>
// CHECK-NEXT: %[[V1:.*]] = vector.bitcast %[[P1]]
// CHECK-NEXT: %[[W1:.*]] = vector.extract %[[V1]][0]
// CHECK-NEXT: %[[P2:.*]] = vector.from_elements %[[H4]], %[[H5]] : vector<2xbf16>
// CHECK-NEXT: %[[V2:.*]] = vector.bitcast %[[P2]]
// CHECK-NEXT: %[[W2:.*]] = vector.extract %[[V2]][0]
// CHECK-NEXT: %[[P3:.*]] = vector.from_elements %[[H6]], %[[H7]] : vector<2xbf16>
// CHECK-NEXT: %[[V3:.*]] = vector.bitcast %[[P3]]
// CHECK-NEXT: %[[W3:.*]] = vector.extract %[[V3]][0]

// Stores, of rows that exist only: pairs of either row.
// CHECK: %[[COUNT:.*]] = arith.cmpi ult, %[[ROW]], %[[N]] : index
// CHECK-NEXT: scf.if %[[COUNT]] {
// CHECK: llvm.store %[[W0]], %{{.*}} {alignment = 2 : i64} : i32, !llvm.ptr<1>
// CHECK: llvm.store %[[W2]], %{{.*}} {alignment = 2 : i64} : i32, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: %[[COUNT8:.*]] = arith.cmpi ult, %[[ROW8]], %[[N]] : index
// CHECK-NEXT: scf.if %[[COUNT8]] {
// CHECK: llvm.store %[[W1]], %{{.*}} {alignment = 2 : i64} : i32, !llvm.ptr<1>
// CHECK: llvm.store %[[W3]], %{{.*}} {alignment = 2 : i64} : i32, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// One value a row: each of the first two threads of four has one, behind one branch.
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[STRIDE:.*]] = memref.extract_strided_metadata
// CHECK: %[[SECOND:.*]] = arith.cmpi ne, %[[COLUMN]], %c0 : index
// CHECK-NEXT: %[[MY_ROW:.*]] = arith.select %[[SECOND]], %[[ROW8]], %[[ROW]] : index
// CHECK-NEXT: %[[MINE:.*]] = arith.select %[[SECOND]], %[[LOWER]], %[[UPPER]] : f32
// CHECK-NEXT: %[[EXISTS:.*]] = arith.cmpi ult, %[[MY_ROW]], %[[N]] : index
// CHECK-NEXT: %[[ONE_OF_TWO:.*]] = arith.cmpi ule, %[[COLUMN]], %c2 : index
// CHECK-NEXT: %[[STORES:.*]] = arith.andi %[[EXISTS]], %[[ONE_OF_TWO]] : i1
// CHECK-NEXT: scf.if %[[STORES]] {
// CHECK-NEXT: arith.muli %[[MY_ROW]], %[[STRIDE]]
// CHECK: llvm.store %[[MINE]], %{{.*}} : f32, !llvm.ptr<1>
// CHECK-NEXT: }
// CHECK-NEXT: llvm.return
// CHECK-NOT: wg.
gpu.module @kernels {
  llvm.func @registers(%x: f32, %y: f32, %p: !llvm.ptr, %n: i64)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %m = builtin.unrealized_conversion_cast %p
        : !llvm.ptr to memref<?x16xbf16, strided<[?, 1], offset: ?>>
    %l = builtin.unrealized_conversion_cast %p
        : !llvm.ptr to memref<?xf32, strided<[?], offset: ?>>
    %count = builtin.unrealized_conversion_cast %n : i64 to index
    %s = wg.splat %x : f32 -> !wg.fragment<64x16xf32, accumulator>
    %r = wg.splat %y : f32 -> !wg.fragment<64xf32, row>
    %k = wg.map %s, %r : !wg.fragment<64x16xf32, accumulator>, !wg.fragment<64xf32, row>
        -> !wg.fragment<64x16xf32, accumulator> {
    ^bb0(%a: f32, %b: f32, %i: index, %j: index):
      %c = arith.cmpi ule, %j, %i : index
      %d = arith.select %c, %a, %b : f32
      wg.yield %d : f32
    }
    %u = wg.reduce %k, %r : !wg.fragment<64x16xf32, accumulator> -> !wg.fragment<64xf32, row> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      wg.yield %c : f32
    }
    %h = wg.map %k : !wg.fragment<64x16xf32, accumulator>
        -> !wg.fragment<64x16xbf16, accumulator> {
    ^bb0(%a: f32, %i: index, %j: index):
      %d = arith.truncf %a : f32 to bf16
      wg.yield %d : bf16
    }
    wg.store %h, %m count %count : !wg.fragment<64x16xbf16, accumulator>,
        memref<?x16xbf16, strided<[?, 1], offset: ?>>
    wg.store %u, %l count %count : !wg.fragment<64xf32, row>,
        memref<?xf32, strided<[?], offset: ?>>
    llvm.return
  }

  // Rows alone, and their number.
  // CHECK: llvm.func @rows
  // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
  // CHECK: %[[I0:.*]] = arith.index_cast %[[ROW]] : index to i32
  // CHECK: arith.sitofp %[[I0]]
  // CHECK: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8
  // CHECK: %[[I1:.*]] = arith.index_cast %[[ROW8]] : index to i32
  // CHECK: arith.sitofp %[[I1]]
  // CHECK-NOT: arith.sitofp
  // CHECK: llvm.return
  llvm.func @rows(%y: f32, %p: !llvm.ptr)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %l = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64xf32>
    %c64 = arith.constant 64 : index
    %r = wg.splat %y : f32 -> !wg.fragment<64xf32, row>
    %s = wg.map %r : !wg.fragment<64xf32, row> -> !wg.fragment<64xf32, row> {
    ^bb0(%a: f32, %i: index, %j: index):
      %b = arith.index_cast %i : index to i32
      %c = arith.sitofp %b : i32 to f32
      wg.yield %c : f32
    }
    wg.store %s, %l count %c64 : !wg.fragment<64xf32, row>, memref<64xf32>
    llvm.return
  }
}
