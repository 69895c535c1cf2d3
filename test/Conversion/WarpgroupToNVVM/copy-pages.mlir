// Rows of pages: where they start at a multiple of the box's rows, a box for each run that
// has a row, each announced by itself; elsewhere, and without a map, the warp gathers.

// RUN: mla-opt %s -mla-wg-lower-rings -canonicalize -cse | FileCheck %s

gpu.module @kernels {
  // Pages of 48 rows in runs of 16; 64 rows are four runs.
  // CHECK: llvm.func @runs
  // CHECK-SAME: %[[MAP:[a-z0-9]+]]: !llvm.ptr)
  // CHECK-DAG: %[[TABLE:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?x?xi32>
  // CHECK-DAG: %[[SEQUENCE:.*]] = builtin.unrealized_conversion_cast %arg2
  // CHECK-DAG: %[[POSITION:.*]] = builtin.unrealized_conversion_cast %arg3
  // CHECK-DAG: %[[COUNT:.*]] = builtin.unrealized_conversion_cast %arg4
  // CHECK-DAG: %[[LAYER:.*]] = builtin.unrealized_conversion_cast %arg5
  // CHECK: wg.roles

  // Of runs past the count nothing is looked up: the table may hold anything there.
  // CHECK-DAG: %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
  // CHECK-DAG: %[[ROW0:.*]] = arith.minsi %[[LAST]], %c0
  // CHECK-DAG: %[[AT0:.*]] = arith.addi %[[POSITION]], %[[ROW0]]
  // CHECK-DAG: %[[NUMBER0:.*]] = arith.divui %[[AT0]], %c48
  // CHECK-DAG: %[[PAGE0:.*]] = memref.load %[[TABLE]][%[[SEQUENCE]], %[[NUMBER0]]]
  // CHECK-DAG: %[[ROW3:.*]] = arith.minsi %[[LAST]], %c48
  // CHECK-DAG: %[[AT3:.*]] = arith.addi %[[POSITION]], %[[ROW3]]
  // CHECK-DAG: %[[NUMBER3:.*]] = arith.divui %[[AT3]], %c48
  // CHECK-DAG: %[[PAGE3:.*]] = memref.load %[[TABLE]][%[[SEQUENCE]], %[[NUMBER3]]]
  // CHECK-DAG: %[[IN_PAGE3:.*]] = arith.remui %[[AT3]], %c48

  // CHECK: %[[REST:.*]] = arith.remui %[[POSITION]], %c16
  // CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %c0
  // CHECK: scf.if %[[ALIGNED]] {
  // One thread; 16 rows of 128 bytes, at row 512 + 0 of the cache.
  // CHECK: nvvm.mbarrier.expect_tx %[[FULL:.*]], %c2048_i32
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %[[FULL]], box[%c512_i32, %{{.*}}, %{{.*}}, %[[PAGE0]]] {isCTAOnly = true}
  // CHECK: arith.cmpi sgt, %[[COUNT]], %c16
  // CHECK: nvvm.mbarrier.expect_tx %[[FULL]], %c2048_i32
  // CHECK: arith.cmpi sgt, %[[COUNT]], %c32
  // CHECK: arith.cmpi sgt, %[[COUNT]], %c48
  // CHECK: nvvm.mbarrier.expect_tx %[[FULL]], %c2048_i32
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %[[FULL]], box[%c512_i32, %{{.*}}, %{{.*}}, %[[PAGE3]]] {isCTAOnly = true}
  // CHECK-NOT: nvvm.cp.async.bulk
  // CHECK: } else {
  // CHECK: nvvm.cp.async.shared.global
  // CHECK: }
  // The commit has nothing to announce.
  // CHECK: nvvm.mbarrier.arrive %
  llvm.func @runs(%c: !llvm.ptr, %t: !llvm.ptr, %s: i64, %p: i64, %n: i64, %l: i64, %use: i32,
      %m: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %cache = builtin.unrealized_conversion_cast %c : !llvm.ptr to memref<?x1x?x48x1x576xbf16>
    %table = builtin.unrealized_conversion_cast %t : !llvm.ptr to memref<?x?xi32>
    %sequence = builtin.unrealized_conversion_cast %s : i64 to index
    %position = builtin.unrealized_conversion_cast %p : i64 to index
    %count = builtin.unrealized_conversion_cast %n : i64 to index
    %layer = builtin.unrealized_conversion_cast %l : i64 to index
    %map = builtin.unrealized_conversion_cast %m : !llvm.ptr to !wg.tensor_map<1x1x16x64xbf16>
    %ring = wg.ring consumers 1 : !wg.ring<1 x !wg.tile<64x64xbf16>>
    wg.roles warpgroups 1 producer registers 40 {
      wg.acquire %ring[%use] : !wg.ring<1 x !wg.tile<64x64xbf16>>
      wg.copy_pages %cache by %map[layer %layer, column 512] through %table[%sequence]
          rows(%position, %count) to %ring[%use] element 0
          : memref<?x1x?x48x1x576xbf16> by !wg.tensor_map<1x1x16x64xbf16>, memref<?x?xi32>,
            !wg.ring<1 x !wg.tile<64x64xbf16>>
      wg.commit %ring[%use] : !wg.ring<1 x !wg.tile<64x64xbf16>>
    } consumer registers 232 {
    }
    llvm.return
  }

  // CHECK: llvm.func @gather
  // CHECK-DAG: %[[COUNT:.*]] = builtin.unrealized_conversion_cast %arg4
  // CHECK-DAG: %[[LANE:.*]] = arith.remui %{{.*}}, %c32_i32
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK-NOT: nvvm.cp.async.bulk
  // The page size is known at run time.
  // CHECK: %{{.*}}, %{{.*}}, %[[SIZES:.*]]:6, %[[STRIDES:.*]]:6 = memref.extract_strided_metadata
  // Eight chunks a row, side by side in the lanes; each lane asks for some, then waits.
  // CHECK: %[[TOTAL:.*]] = arith.muli %[[COUNT]], %c8
  // CHECK: %[[FIRST:.*]] = arith.index_cast %[[LANE]]
  // CHECK: scf.for %[[I:.*]] = %[[FIRST]] to %[[TOTAL]] step %c{{64|128|256}} {
  // Past the last chunk, that one once more.
  // CHECK: %[[LAST:.*]] = arith.subi %[[TOTAL]], %c1
  // CHECK: %[[CHUNK:.*]] = arith.minui %[[I]], %[[LAST]]
  // CHECK: arith.divui %{{.*}}, %[[SIZES]]#3
  // CHECK: memref.load
  // CHECK: arith.remui %{{.*}}, %[[SIZES]]#3
  // The swizzle.
  // CHECK: arith.xori
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  // CHECK: nvvm.cp.async.commit.group
  // CHECK-NEXT: nvvm.cp.async.wait.group 0
  // Each lane shows what it wrote; the leader arrives for all.
  // CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  // CHECK-NEXT: nvvm.bar.warp.sync
  // CHECK: nvvm.mbarrier.arrive %
  llvm.func @gather(%c: !llvm.ptr, %t: !llvm.ptr, %s: i64, %p: i64, %n: i64, %l: i64, %use: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %cache = builtin.unrealized_conversion_cast %c : !llvm.ptr to memref<?x1x?x?x1x576xbf16>
    %table = builtin.unrealized_conversion_cast %t : !llvm.ptr to memref<?x?xui32>
    %sequence = builtin.unrealized_conversion_cast %s : i64 to index
    %position = builtin.unrealized_conversion_cast %p : i64 to index
    %count = builtin.unrealized_conversion_cast %n : i64 to index
    %layer = builtin.unrealized_conversion_cast %l : i64 to index
    %ring = wg.ring consumers 1 : !wg.ring<1 x !wg.tile<64x64xbf16>>
    wg.roles warpgroups 1 producer registers 40 {
      wg.acquire %ring[%use] : !wg.ring<1 x !wg.tile<64x64xbf16>>
      wg.copy_pages %cache[layer %layer, column 512] through %table[%sequence]
          rows(%position, %count) to %ring[%use] element 0
          : memref<?x1x?x?x1x576xbf16>, memref<?x?xui32>, !wg.ring<1 x !wg.tile<64x64xbf16>>
      wg.commit %ring[%use] : !wg.ring<1 x !wg.tile<64x64xbf16>>
    } consumer registers 232 {
    }
    llvm.return
  }

  // Boxes arrive whole, also where the tile's last panel is not: 16 rows of 80 columns
  // are two boxes of 16 rows of 128 bytes, the second in the second panel.
  // CHECK: llvm.func @partial
  // CHECK-DAG: %[[C4096:.*]] = arith.constant 4096 : i32
  // CHECK: wg.roles
  // CHECK: %[[BASE:.*]] = llvm.inttoptr %{{.*}} : i32 to !llvm.ptr<3>
  // CHECK: nvvm.mbarrier.expect_tx %[[FULL:.*]], %[[C4096]]
  // CHECK-NEXT: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[BASE]], %{{.*}}, %[[FULL]], box[%c480_i32,
  // CHECK-NEXT: %[[RIGHT:.*]] = llvm.getelementptr %[[BASE]][8192]
  // CHECK-NEXT: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[RIGHT]], %{{.*}}, %[[FULL]], box[%c544_i32,
  // CHECK-NEXT: arith.cmpi sgt, %{{.*}}, %c16
  // CHECK: nvvm.mbarrier.expect_tx %{{.*}}, %[[C4096]]
  // CHECK: nvvm.mbarrier.expect_tx %{{.*}}, %[[C4096]]
  // CHECK: nvvm.mbarrier.expect_tx %{{.*}}, %[[C4096]]
  // CHECK-COUNT-2: nvvm.cp.async.bulk
  // CHECK-NOT: nvvm.cp.async.bulk
  // Chunk by chunk there are none but the tile's: ten a row.
  // CHECK: } else {
  // CHECK: arith.muli %{{.*}}, %c10
  // CHECK-NOT: nvvm.mbarrier.expect_tx
  // CHECK: nvvm.mbarrier.arrive %
  llvm.func @partial(%c: !llvm.ptr, %t: !llvm.ptr, %i: i64, %use: i32, %m: !llvm.ptr)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %cache = builtin.unrealized_conversion_cast %c : !llvm.ptr to memref<?x1x?x48x1x576xbf16>
    %table = builtin.unrealized_conversion_cast %t : !llvm.ptr to memref<?x?xi32>
    %any = builtin.unrealized_conversion_cast %i : i64 to index
    %map = builtin.unrealized_conversion_cast %m : !llvm.ptr to !wg.tensor_map<1x1x16x64xbf16>
    %ring = wg.ring consumers 1 : !wg.ring<1 x !wg.tile<64x80xbf16>>
    wg.roles warpgroups 1 producer registers 40 {
      wg.acquire %ring[%use] : !wg.ring<1 x !wg.tile<64x80xbf16>>
      wg.copy_pages %cache by %map[layer %any, column 480] through %table[%any]
          rows(%any, %any) to %ring[%use] element 0
          : memref<?x1x?x48x1x576xbf16> by !wg.tensor_map<1x1x16x64xbf16>, memref<?x?xi32>,
            !wg.ring<1 x !wg.tile<64x80xbf16>>
      wg.commit %ring[%use] : !wg.ring<1 x !wg.tile<64x80xbf16>>
    } consumer registers 232 {
    }
    llvm.return
  }

  // Less than one panel.
  // CHECK: llvm.func @narrow
  // CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : i32
  // CHECK: wg.roles
  // CHECK-COUNT-4: nvvm.mbarrier.expect_tx %{{.*}}, %[[C2048]]
  // CHECK-NOT: nvvm.mbarrier.expect_tx
  llvm.func @narrow(%c: !llvm.ptr, %t: !llvm.ptr, %i: i64, %use: i32, %m: !llvm.ptr)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %cache = builtin.unrealized_conversion_cast %c : !llvm.ptr to memref<?x1x?x48x1x32xbf16>
    %table = builtin.unrealized_conversion_cast %t : !llvm.ptr to memref<?x?xi32>
    %any = builtin.unrealized_conversion_cast %i : i64 to index
    %map = builtin.unrealized_conversion_cast %m : !llvm.ptr to !wg.tensor_map<1x1x16x64xbf16>
    %ring = wg.ring consumers 1 : !wg.ring<1 x !wg.tile<64x16xbf16>>
    wg.roles warpgroups 1 producer registers 40 {
      wg.acquire %ring[%use] : !wg.ring<1 x !wg.tile<64x16xbf16>>
      wg.copy_pages %cache by %map[layer %any, column 16] through %table[%any]
          rows(%any, %any) to %ring[%use] element 0
          : memref<?x1x?x48x1x32xbf16> by !wg.tensor_map<1x1x16x64xbf16>, memref<?x?xi32>,
            !wg.ring<1 x !wg.tile<64x16xbf16>>
      wg.commit %ring[%use] : !wg.ring<1 x !wg.tile<64x16xbf16>>
    } consumer registers 232 {
    }
    llvm.return
  }
}
