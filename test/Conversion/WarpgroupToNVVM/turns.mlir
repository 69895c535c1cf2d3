// A turn is a barrier of two warpgroups: one awaits it, and the one before has passed it.
// Their numbers follow those of the block's barrier and of the warpgroups' own.

// RUN: mla-opt %s -mla-wg-lower-rings -canonicalize -cse | FileCheck %s

// CHECK-LABEL: llvm.func @three
// CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK: } consumer
// The last of three, number 2, is as if it had passed the turn to the first.
// CHECK: %[[GROUP:.*]] = arith.divui %[[THREAD]], %c128_i32
// CHECK: %[[SAME:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[GROUP]], %c0_i32, %c31_i32
// CHECK: %[[CONSUMER:.*]] = arith.subi %[[SAME]], %c1_i32
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[CONSUMER]], %c2_i32
// CHECK: scf.if %[[LAST]] {
// CHECK-NEXT: nvvm.barrier.arrive id = %c4_i32 number_of_threads = %c256_i32
// CHECK-NEXT: }
// Barriers 4, 5 and 6: 1 to 3 are the warpgroups'. The warpgroup's own is one of them, and
// so is the next one's, which is the first after the last.
// CHECK: %[[GROUP2:.*]] = nvvm.shfl.sync idx
// CHECK-NEXT: %[[MINE:.*]] = arith.addi %[[GROUP2]], %c3_i32
// CHECK-NEXT: nvvm.barrier id = %[[MINE]] number_of_threads = %c256_i32
// CHECK-NEXT: %[[GROUP3:.*]] = nvvm.shfl.sync idx
// CHECK-NEXT: %[[NEXT:.*]] = arith.remui %[[GROUP3]], %c3_i32
// CHECK-NEXT: %[[THEIRS:.*]] = arith.addi %[[NEXT]], %c4_i32
// CHECK-NEXT: nvvm.barrier.arrive id = %[[THEIRS]] number_of_threads = %c256_i32
// CHECK-NOT: wg.{{.*}}turn
gpu.module @kernels {
  llvm.func @three() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 512, 1, 1>} {
    wg.roles warpgroups 3 producer registers 32 {
    } consumer registers 160 {
      wg.start_turns
      wg.await_turn
      wg.pass_turn
    }
    llvm.return
  }
}
