// Rows past a count become zeros, if there are any: each warpgroup waits for the copies,
// writes zeros with all its threads and shows them to the matrix unit. No other has to be
// waited for, since it writes the same.

// RUN: mla-opt %s -mla-wg-lower-rings -canonicalize -cse | FileCheck %s

// CHECK: llvm.func @clear
// CHECK-SAME: (%[[USE:[a-z0-9]+]]: i32, %[[N:[a-z0-9]+]]: i64)
// CHECK-DAG: %[[SHARED:.*]] = llvm.mlir.addressof @mla_shared
// CHECK-DAG: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0> : vector<4xi32>
// CHECK: } consumer
// CHECK: %[[COUNT:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[COUNT]], %c128_i32
// CHECK-NEXT: scf.if %[[SOME]] {
// CHECK: nvvm.mbarrier.try_wait.parity
// Each thread 16 bytes from its own place after the last row that is there, then every
// 2048 bytes: 16 rows. 128 rows are 16 KiB of either panel.
// CHECK: %[[IN_GROUP:.*]] = arith.remui %[[THREAD]], %c128_i32
// CHECK: %[[ROWS:.*]] = arith.muli %[[COUNT]], %c128_i32
// CHECK: %[[OWN:.*]] = arith.muli %[[IN_GROUP]], %c16_i32
// CHECK: %[[BEGIN:.*]] = arith.addi %[[ROWS]], %[[OWN]]
// CHECK: scf.for %[[AT:.*]] = %[[BEGIN]] to %c16384_i32 step %c2048_i32 : i32 {
// CHECK-NEXT: %[[P0:.*]] = llvm.getelementptr %[[BASE:.*]][%[[AT]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK: llvm.store %[[ZERO]], %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK: llvm.getelementptr %[[P0]][16384]
// CHECK-NEXT: llvm.store %[[ZERO]], %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK-NEXT: }
// A barrier of the warpgroup's own, since number 0 is the block's. Its number is the
// warpgroup's, which starts at 1, behind the producer's.
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: %[[GROUP:.*]] = arith.divui %[[THREAD]], %c128_i32
// CHECK: %[[SAME:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[GROUP]], %c0_i32, %c31_i32
// CHECK: nvvm.barrier id = %[[SAME]] number_of_threads = %c128_i32
// CHECK-NEXT: }
gpu.module @kernels {
  llvm.func @clear(%use: i32, %n: i64)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>} {
    %count = builtin.unrealized_conversion_cast %n : i64 to index
    %ring = wg.ring consumers 2 : !wg.ring<2 x !wg.tile<128x128xbf16>>
    wg.roles warpgroups 2 producer registers 40 {
    } consumer registers 232 {
      wg.clear_rows %ring[%use] element 0 from %count : !wg.ring<2 x !wg.tile<128x128xbf16>>
    }
    llvm.return
  }
}
