// A box is one instruction of a warp's leader, elected for it, and the engine counts its coordinates
// from the innermost. The commit announces all bytes of the use, even of rows outside the
// tensor: they arrive as zeros.

// RUN: mla-opt %s -mla-wg-lower-rings -canonicalize -cse | FileCheck %s

gpu.module @kernels {
  // CHECK: llvm.func @boxes
  // CHECK-SAME: (%[[ROW:[a-z0-9]+]]: i32, %[[HEAD:[a-z0-9]+]]: i32, %[[USE:[a-z0-9]+]]: i32, %[[MAP:[a-z0-9]+]]: !llvm.ptr)
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
  // CHECK: wg.roles
  // CHECK-NEXT: %[[ADDRESS:.*]] = llvm.inline_asm has_side_effects {{.*}} "mov.b32 $0, mla_shared;", "=r" : () -> i32
  // CHECK-NEXT: %[[SHARED:.*]] = llvm.inttoptr %[[ADDRESS]] : i32 to !llvm.ptr<3>
  // CHECK: nvvm.mbarrier.try_wait.parity
  // The second tile is behind 8 KiB of the first, its second panel behind 16 of its own.
  // CHECK-NEXT: %[[LEADER0:.*]] = nvvm.elect.sync -> i1
  // CHECK-NEXT: scf.if %[[LEADER0]] {
  // CHECK-DAG: %[[FULL0:.*]] = llvm.getelementptr %[[SHARED]][40960]
  // CHECK-DAG: %[[TO0:.*]] = llvm.getelementptr %[[SHARED]][8192]
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[TO0]], %[[MAP]], %[[FULL0]], box[%[[C0]], %[[HEAD]], %[[ROW]]] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[LEADER1:.*]] = nvvm.elect.sync -> i1
  // CHECK-NEXT: scf.if %[[LEADER1]] {
  // CHECK-DAG: %[[FULL1:.*]] = llvm.getelementptr %[[SHARED]][40960]
  // CHECK-DAG: %[[TO1:.*]] = llvm.getelementptr %[[SHARED]][24576]
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[TO1]], %[[MAP]], %[[FULL1]], box[%[[C64]], %[[HEAD]], %[[ROW]]] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
  // CHECK-NEXT: }
  // Twice 128 rows of 128 bytes.
  // CHECK-NEXT: %[[LEADER2:.*]] = nvvm.elect.sync -> i1
  // CHECK-NEXT: scf.if %[[LEADER2]] {
  // CHECK-NEXT: %[[FULL2:.*]] = llvm.getelementptr %[[SHARED]][40960]
  // CHECK-NEXT: nvvm.mbarrier.arrive.expect_tx %[[FULL2]], %c32768_i32
  // CHECK-NOT: nvvm.cp.async
  llvm.func @boxes(%row: i32, %head: i32, %use: i32, %p: !llvm.ptr)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %map = builtin.unrealized_conversion_cast %p : !llvm.ptr to !wg.tensor_map<128x1x64xbf16>
    %ring = wg.ring consumers 1 : !wg.ring<1 x !wg.tile<64x64xbf16>, !wg.tile<128x128xbf16>>
    wg.roles warpgroups 1 producer registers 40 {
      %c0 = arith.constant 0 : i32
      %c64 = arith.constant 64 : i32
      wg.acquire %ring[%use] : !wg.ring<1 x !wg.tile<64x64xbf16>, !wg.tile<128x128xbf16>>
      wg.copy_box %map[%row, %head, %c0] to %ring[%use] element 1 column 0
          : !wg.tensor_map<128x1x64xbf16>, !wg.ring<1 x !wg.tile<64x64xbf16>, !wg.tile<128x128xbf16>>
      wg.copy_box %map[%row, %head, %c64] to %ring[%use] element 1 column 64
          : !wg.tensor_map<128x1x64xbf16>, !wg.ring<1 x !wg.tile<64x64xbf16>, !wg.tile<128x128xbf16>>
      wg.commit %ring[%use] : !wg.ring<1 x !wg.tile<64x64xbf16>, !wg.tile<128x128xbf16>>
    } consumer registers 232 {
    }
    llvm.return
  }

  // Each commit announces the copies of its own loop: here one box, there two.
  // CHECK: llvm.func @loops
  // CHECK: scf.for
  // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c8192_i32
  // CHECK: scf.for
  // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16384_i32
  llvm.func @loops(%n: i32, %p: !llvm.ptr)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %map = builtin.unrealized_conversion_cast %p : !llvm.ptr to !wg.tensor_map<64x64xf16>
    %ring = wg.ring consumers 1 : !wg.ring<2 x !wg.tile<64x128xf16>>
    wg.roles warpgroups 1 producer registers 40 {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      scf.for %i = %c0 to %n step %c1 : i32 {
        wg.acquire %ring[%i] : !wg.ring<2 x !wg.tile<64x128xf16>>
        wg.copy_box %map[%c0, %c0] to %ring[%i] element 0 column 64
            : !wg.tensor_map<64x64xf16>, !wg.ring<2 x !wg.tile<64x128xf16>>
        wg.commit %ring[%i] : !wg.ring<2 x !wg.tile<64x128xf16>>
      }
      scf.for %i = %c1 to %n step %c1 : i32 {
        wg.acquire %ring[%i] : !wg.ring<2 x !wg.tile<64x128xf16>>
        wg.copy_box %map[%i, %c0] to %ring[%i] element 0 column 0
            : !wg.tensor_map<64x64xf16>, !wg.ring<2 x !wg.tile<64x128xf16>>
        wg.copy_box %map[%i, %c0] to %ring[%i] element 0 column 64
            : !wg.tensor_map<64x64xf16>, !wg.ring<2 x !wg.tile<64x128xf16>>
        wg.commit %ring[%i] : !wg.ring<2 x !wg.tile<64x128xf16>>
      }
    } consumer registers 232 {
    }
    llvm.return
  }

  // A box is a whole panel, also where the tile's last one is not: 80 columns are two of
  // 8 KiB, behind which the second tile's comes, and all three are announced.
  // CHECK: llvm.func @partial
  // CHECK: %[[BASE:.*]] = llvm.inttoptr %{{.*}} : i32 to !llvm.ptr<3>
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[BASE]], %{{.*}}, %{{.*}}, box[%c0_i32,
  // CHECK: %[[RIGHT:.*]] = llvm.getelementptr %[[BASE]][8192]
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[RIGHT]], %{{.*}}, %{{.*}}, box[%c64_i32,
  // CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[BASE]][16384]
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[SECOND]], %{{.*}}, %{{.*}}, box[%c0_i32,
  // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c24576_i32
  llvm.func @partial(%row: i32, %use: i32, %p: !llvm.ptr)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %map = builtin.unrealized_conversion_cast %p : !llvm.ptr to !wg.tensor_map<64x64xbf16>
    %ring = wg.ring consumers 1 : !wg.ring<1 x !wg.tile<64x80xbf16>, !wg.tile<64x16xbf16>>
    wg.roles warpgroups 1 producer registers 40 {
      %c0 = arith.constant 0 : i32
      %c64 = arith.constant 64 : i32
      wg.acquire %ring[%use] : !wg.ring<1 x !wg.tile<64x80xbf16>, !wg.tile<64x16xbf16>>
      wg.copy_box %map[%row, %c0] to %ring[%use] element 0 column 0
          : !wg.tensor_map<64x64xbf16>, !wg.ring<1 x !wg.tile<64x80xbf16>, !wg.tile<64x16xbf16>>
      wg.copy_box %map[%row, %c64] to %ring[%use] element 0 column 64
          : !wg.tensor_map<64x64xbf16>, !wg.ring<1 x !wg.tile<64x80xbf16>, !wg.tile<64x16xbf16>>
      wg.copy_box %map[%row, %c0] to %ring[%use] element 1 column 0
          : !wg.tensor_map<64x64xbf16>, !wg.ring<1 x !wg.tile<64x80xbf16>, !wg.tile<64x16xbf16>>
      wg.commit %ring[%use] : !wg.ring<1 x !wg.tile<64x80xbf16>, !wg.tile<64x16xbf16>>
    } consumer registers 232 {
    }
    llvm.return
  }
}
