// The next item is a count of the whole launch, and the last block to be done sets it to
// zero for the next launch. Counters are the kernel's last parameter.

// RUN: mla-opt %s -allow-unregistered-dialect -mla-wg-lower-rings -canonicalize -cse | FileCheck %s

// CHECK: llvm.func @claim
// CHECK-SAME: %[[SLOT:[a-z0-9]+]]: !llvm.ptr)
// CHECK: %[[LEADER:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32
// CHECK: wg.roles
// The first item of a block is its own number.
// CHECK: %[[MINE:.*]] = scf.if %[[LEADER]] -> (i32) {
// CHECK-NEXT: %[[OLD:.*]] = llvm.atomicrmw add %[[SLOT]], %c1_i32 monotonic : !llvm.ptr, i32
// CHECK-NEXT: %[[BLOCKS:.*]] = nvvm.read.ptx.sreg.nctaid.x : i32
// CHECK-NEXT: %[[NUMBER:.*]] = arith.addi %[[OLD]], %[[BLOCKS]]
// CHECK-NEXT: scf.yield %[[NUMBER]]
// CHECK: nvvm.shfl.sync idx %c-1_i32, %[[MINE]], %c0_i32, %c31_i32
// CHECK: scf.if %[[LEADER]] {
// CHECK-NEXT: %[[DONE:.*]] = llvm.getelementptr %[[SLOT]][1] : (!llvm.ptr) -> !llvm.ptr, i32
// CHECK-NEXT: %[[BEFORE:.*]] = llvm.atomicrmw add %[[DONE]], %c1_i32 monotonic : !llvm.ptr, i32
// CHECK: %[[OTHERS:.*]] = arith.subi %{{.*}}, %c1_i32
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[BEFORE]], %[[OTHERS]]
// CHECK: scf.if %[[LAST]] {
// CHECK: llvm.store %c0_i32, %[[SLOT]] : i32, !llvm.ptr
// CHECK: llvm.store %c0_i32, %[[DONE]] : i32, !llvm.ptr
gpu.module @kernels {
  llvm.func @claim(%p: !llvm.ptr, %slot: !llvm.ptr)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    wg.roles warpgroups 1 producer registers 40 {
      %n = wg.claim
      "test.use"(%n) : (index) -> ()
      wg.retire
    } consumer registers 232 {
    }
    llvm.return
  }
}
