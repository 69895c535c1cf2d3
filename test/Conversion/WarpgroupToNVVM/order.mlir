// The order of sequences is built by every block for itself, before the roles part: a
// counting sort by cost that keeps equal lines in their order, then tiles up to each line.

// RUN: mla-opt %s -allow-unregistered-dialect -mla-wg-lower-rings -canonicalize -cse | FileCheck %s

// 8 words of header, 256 buckets, twice 2048 lines: 17440 bytes.
// CHECK: llvm.func @order
// CHECK-SAME: mla.shared_bytes = 17440 : i64
// CHECK-DAG: %[[SHARED:.*]] = llvm.mlir.addressof @mla_shared
// CHECK-DAG: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-DAG: %[[OFFSETS:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?xi32>
// CHECK-DAG: %[[LENGTHS:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?xi64>
// CHECK: memref.dim %[[OFFSETS]]
// More sequences than the table has lines for share lines: neighbours.
// CHECK: %[[RUNS:.*]] = arith.ceildivui %[[SEQUENCES:.*]], %c2048_i32
// CHECK: %[[CHUNK:.*]] = arith.maxui %[[RUNS]], %c1_i32
// CHECK: %[[LINES:.*]] = arith.ceildivui %[[SEQUENCES]], %[[CHUNK]]
// All threads.
// CHECK: scf.for %{{.*}} = %[[THREAD]] to %c256_i32 step %c384_i32
// CHECK: nvvm.barrier{{$}}
// CHECK: scf.for %[[LINE:.*]] = %[[THREAD]] to %[[LINES]] step %c384_i32
// CHECK: scf.for
// The tiles of a sequence, of 64 rows here, and what its last tile costs, which the op's
// body tells.
// CHECK: memref.load %[[OFFSETS]]
// CHECK: memref.load %[[OFFSETS]]
// CHECK: %[[ROWS:.*]] = arith.maxsi
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[ROWS]], %c64
// CHECK: %[[OTHERS:.*]] = arith.subi %[[TILES]], %c1
// CHECK: %[[FROM:.*]] = arith.maxsi %[[OTHERS]], %c0
// CHECK: %[[FIRST:.*]] = arith.muli %[[FROM]], %c64
// CHECK: %[[LENGTH:.*]] = memref.load %[[LENGTHS]]
// CHECK: %[[KEYS:.*]] = arith.index_cast %[[LENGTH]]
// CHECK: arith.addi %[[KEYS]], %[[FIRST]]
// CHECK: scf.yield
// The bucket is the exponent and three bits of the cost, the largest first.
// CHECK: arith.uitofp
// CHECK: arith.shrui %{{.*}}, %c20_i32
// CHECK: arith.subi %c255_i32
// CHECK: llvm.atomicrmw add {{.*}} syncscope("block")
// CHECK: nvvm.barrier{{$}}
// One warp sorts: places are the same in every block, whichever thread came first.
// CHECK: %[[IN_WARP:.*]] = arith.cmpi ult, %[[THREAD]], %c32_i32
// CHECK: scf.if %[[IN_WARP]]
// CHECK: nvvm.match.sync any
// CHECK: llvm.intr.ctpop
// CHECK: nvvm.bar.warp.sync
// Groups of about as many heads as keys fit the cache for.
// CHECK: arith.divui %c512_i32
// CHECK: arith.ceildivui
// CHECK: nvvm.barrier{{$}}
// CHECK: nvvm.fence.proxy
// CHECK-NEXT: nvvm.barrier{{$}}
// CHECK: wg.roles
// Items: tiles of all lines times heads.
// CHECK: %[[ALL:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK: %[[ALL_TILES:.*]] = arith.index_castui %[[ALL]]
// CHECK: %[[ITEMS:.*]] = arith.muli %[[ALL_TILES]], %[[HEADS:.*]] : index
// CHECK: "test.use"(%[[ITEMS]])
// An item: group of heads, tile, head; then a binary search of the line.
// CHECK-COUNT-2: arith.divui
// CHECK: scf.while
// CHECK: arith.shrui %{{.*}}, %c1_i32
// CHECK: arith.cmpi ule
// A line's sequences one by one.
// CHECK: scf.while
// CHECK: memref.load %[[OFFSETS]]
// Its tiles from the last to the first.
// CHECK: "test.use"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (index, index, index, index) -> ()
// CHECK-NOT: {{wg\.(order|item)|func\.}}
gpu.module @kernels {
  llvm.func @order(%o: !llvm.ptr, %l: !llvm.ptr, %h: i64, %n: i64)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>} {
    %offsets = builtin.unrealized_conversion_cast %o : !llvm.ptr to memref<?xi32>
    %lengths = builtin.unrealized_conversion_cast %l : !llvm.ptr to memref<?xi64>
    %heads = builtin.unrealized_conversion_cast %h : i64 to index
    %number = builtin.unrealized_conversion_cast %n : i64 to index
    %order = wg.order %offsets tile 64 heads %heads for 512 : memref<?xi32> {
    ^bb0(%sequence: index, %first: index, %count: index):
      %length = memref.load %lengths[%sequence] : memref<?xi64>
      %keys = arith.index_cast %length : i64 to index
      %cost = arith.addi %keys, %first : index
      wg.yield %cost : index
    }
    wg.roles warpgroups 2 producer registers 40 {
      %items = wg.item_count %order heads %heads
      "test.use"(%items) : (index) -> ()
      %s, %f, %c, %head = wg.item %order[%number] heads %heads in %offsets tile 64 : memref<?xi32>
      "test.use"(%s, %f, %c, %head) : (index, index, index, index) -> ()
    } consumer registers 232 {
    }
    llvm.return
  }
}
