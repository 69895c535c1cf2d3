// A ring is memory and two barriers a slot. Use n is in slot n % slots, its (n / slots)th:
// takers wait for "full" with that parity, the producer for "empty" with the other.

// RUN: mla-opt %s -allow-unregistered-dialect -mla-wg-lower-rings -canonicalize -cse | FileCheck %s

// Tiles first, at multiples of 1024 bytes: 2 slots of 16 + 8 KiB, then 3 records of two
// scalars of 8 bytes, then 2 * 2 and 2 * 3 barriers.
// CHECK: llvm.mlir.global external @mla_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @rings
// CHECK-SAME: %[[LAST:[a-z0-9]+]]: i1)
// CHECK-SAME: mla.shared_bytes = 49280 : i64
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
// CHECK-DAG: %[[SHARED:.*]] = llvm.mlir.addressof @mla_shared : !llvm.ptr<3>
// CHECK-DAG: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-DAG: %[[LANE:.*]] = arith.remui %[[THREAD]], %c32_i32
// CHECK-DAG: %[[LEADER:.*]] = arith.cmpi eq, %[[LANE]], %[[C0]]

// One thread makes the barriers, before anybody may arrive: one arrival fills a slot,
// one of each warp of the two consumers empties it.
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[THREAD]], %[[C0]]
// CHECK: scf.if %[[FIRST]] {
// CHECK: %[[B:.*]] = llvm.getelementptr %[[SHARED]][49200]
// CHECK-NEXT: nvvm.mbarrier.init %[[B]], %[[C1]]
// CHECK: [49208]
// CHECK-NEXT: nvvm.mbarrier.init %{{.*}}, %[[C1]]
// CHECK: [49216]
// CHECK-NEXT: nvvm.mbarrier.init %{{.*}}, %[[C8]]
// CHECK: [49224]
// CHECK-NEXT: nvvm.mbarrier.init %{{.*}}, %[[C8]]
// CHECK: [49232]
// CHECK-NEXT: nvvm.mbarrier.init %{{.*}}, %[[C1]]
// CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %[[C1]]
// CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %[[C8]]
// CHECK-NOT: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK-NEXT: }
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT: nvvm.barrier{{$}}
gpu.module @kernels {
  llvm.func @rings(%use: i32, %x: i64, %y: f32, %last: i1)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>} {
    %tiles = wg.ring consumers 2 : !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
    %records = wg.ring consumers 2 : !wg.ring<3 x index, f32>
    %n = builtin.unrealized_conversion_cast %x : i64 to index
    // Each role has the address of shared memory from an instruction of its own.
    // CHECK: wg.roles
    // CHECK-NEXT: %[[AT_P:.*]] = llvm.inline_asm has_side_effects {{.*}} "mov.b32 $0, mla_shared;", "=r" : () -> i32
    // CHECK-NEXT: %[[SHARED_P:.*]] = llvm.inttoptr %[[AT_P]] : i32 to !llvm.ptr<3>
    wg.roles warpgroups 2 producer registers 40 {
      // Uses 0 and 1 wait for a phase that nobody has begun, which counts as done.
      // CHECK-NEXT: %[[TURN:.*]] = arith.divui %[[USE:.*]], %[[C2]]
      // CHECK-NEXT: %[[ODD:.*]] = arith.andi %[[TURN]], %[[C1]]
      // CHECK-NEXT: %[[OTHER:.*]] = arith.xori %[[ODD]], %[[C1]]
      // CHECK-NEXT: %[[SLOT:.*]] = arith.remui %[[USE]], %[[C2]]
      // CHECK-NEXT: %[[STEP:.*]] = arith.muli %[[SLOT]], %[[C8]]
      // CHECK-NEXT: %[[EMPTY0:.*]] = llvm.getelementptr %[[SHARED_P]][49216]
      // CHECK-NEXT: %[[EMPTY:.*]] = llvm.getelementptr %[[EMPTY0]][%[[STEP]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      // CHECK-NEXT: nvvm.mbarrier.try_wait.parity %[[EMPTY]], %[[OTHER]], %{{.*}} : !llvm.ptr<3>, i32, i32
      wg.acquire %tiles[%use] : !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
      // Without a copy of a box there are no bytes to announce.
      // CHECK-NEXT: %[[ELECTED:.*]] = nvvm.elect.sync -> i1
      // CHECK-NEXT: scf.if %[[ELECTED]] {
      // CHECK-NEXT: %[[FULL0:.*]] = llvm.getelementptr %[[SHARED_P]][49200]
      // CHECK-NEXT: %[[FULL:.*]] = llvm.getelementptr %[[FULL0]][%[[STEP]]]
      // CHECK-NEXT: nvvm.mbarrier.arrive %[[FULL]]
      // CHECK-NEXT: }
      wg.commit %tiles[%use] : !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>

      // Of three slots, each of 16 bytes.
      // CHECK-DAG: %[[TURN3:.*]] = arith.divui %[[USE]], %[[C3]]
      // CHECK-DAG: %[[SLOT3:.*]] = arith.remui %[[USE]], %[[C3]]
      // CHECK: nvvm.mbarrier.try_wait.parity
      // CHECK-NEXT: %[[PUTS:.*]] = nvvm.elect.sync -> i1
      // CHECK-NEXT: scf.if %[[PUTS]] {
      // CHECK: %[[AT:.*]] = arith.muli %[[SLOT3]], %c16_i32
      // CHECK: %[[X0:.*]] = llvm.getelementptr %[[SHARED_P]][49152]
      // CHECK: %[[X:.*]] = llvm.getelementptr %[[X0]][%[[AT]]]
      // CHECK: llvm.store volatile %{{.*}}, %[[X]] {alignment = 8 : i64} : i64, !llvm.ptr<3>
      // CHECK: %[[Y0:.*]] = llvm.getelementptr %[[SHARED_P]][49160]
      // CHECK: %[[Y:.*]] = llvm.getelementptr %[[Y0]][%[[AT]]]
      // CHECK: llvm.store volatile %{{.*}}, %[[Y]] {alignment = 8 : i64} : f32, !llvm.ptr<3>
      // CHECK-NEXT: }
      // CHECK-NEXT: %[[COMMITS:.*]] = nvvm.elect.sync -> i1
      // CHECK-NEXT: scf.if %[[COMMITS]] {
      // CHECK: nvvm.mbarrier.arrive %
      wg.acquire %records[%use] : !wg.ring<3 x index, f32>
      wg.put %n, %y to %records[%use] : !wg.ring<3 x index, f32>
      wg.commit %records[%use] : !wg.ring<3 x index, f32>
    // CHECK: } consumer
    // CHECK-NEXT: %[[AT_C:.*]] = llvm.inline_asm has_side_effects {{.*}} "mov.b32 $0, mla_shared;", "=r" : () -> i32
    // CHECK-NEXT: %[[SHARED_C:.*]] = llvm.inttoptr %[[AT_C]] : i32 to !llvm.ptr<3>
    } consumer registers 232 {
      // Consumers have a warp's first lane arrive, without a branch.
      // CHECK: llvm.getelementptr %[[SHARED_C]][49200]
      // CHECK: %[[TURN:.*]] = arith.divui %[[USE]], %[[C2]]
      // CHECK: %[[ODD:.*]] = arith.andi %[[TURN]], %[[C1]]
      // CHECK-NEXT: nvvm.mbarrier.try_wait.parity %{{.*}}, %[[ODD]], %{{.*}} : !llvm.ptr<3>, i32, i32
      // CHECK: %[[BASE:.*]] = llvm.ptrtoint %[[SHARED_C]] : !llvm.ptr<3> to i32
      // CHECK: %[[SLOT_AT:.*]] = arith.muli %{{.*}}, %c24576_i32
      // CHECK: %[[T0:.*]] = arith.addi %[[BASE]], %[[SLOT_AT]]
      // CHECK: wg.tile_at %[[T0]] : !wg.tile<128x64xbf16>
      // CHECK: %[[T1:.*]] = arith.addi %[[T0]], %c16384_i32
      // CHECK: wg.tile_at %[[T1]] : !wg.tile<64x64xbf16>
      // CHECK: llvm.getelementptr %[[SHARED_C]][49216]
      // CHECK: %[[E:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
      // CHECK: llvm.inline_asm has_side_effects {{.*}} "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b" %[[E]], %[[LEADER]] : (i32, i1) -> ()
      // And, where asked for, only if a condition holds.
      // CHECK: %[[BOTH:.*]] = arith.andi %[[LEADER]], %[[LAST]] : i1
      // CHECK: llvm.inline_asm has_side_effects {{.*}} "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b" %{{.*}}, %[[BOTH]] : (i32, i1) -> ()
      %t:2 = wg.take %tiles[%use] : !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
          -> !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>
      "test.use"(%t#0, %t#1) : (!wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>) -> ()
      wg.release %tiles[%use] : !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
      wg.release %tiles[%use] when %last
          : !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>

      // Scalars are the first lane's, in all lanes: known to be the same. One of 64 bits
      // goes in halves.
      // CHECK: llvm.getelementptr %[[SHARED_C]][49232]
      // CHECK: nvvm.mbarrier.try_wait.parity
      // CHECK: %[[W:.*]] = llvm.load volatile %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> i64
      // CHECK-COUNT-2: nvvm.shfl.sync idx %c-1_i32, %{{.*}}, %[[C0]], %c31_i32 : i32 -> i32
      // CHECK: %[[F:.*]] = llvm.load volatile %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> f32
      // CHECK: nvvm.shfl.sync idx %c-1_i32, %[[F]], %[[C0]], %c31_i32 : f32 -> f32
      %r:2 = wg.take %records[%use] : !wg.ring<3 x index, f32> -> index, f32
      "test.use"(%r#0, %r#1) : (index, f32) -> ()
    }
    // CHECK-NOT: wg.{{ring|acquire|commit|put|take|release}}
    llvm.return
  }
}
