// Roles are branches on the warp's number: the first warp of the first warpgroup is the
// producer, its other warps do nothing. Each side first says how many registers it needs.
// Consumers count their threads from the first one's.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK: llvm.func @roles
// CHECK-SAME: (%[[X:[a-z0-9]+]]: f32, %{{.*}}: !llvm.ptr)
// CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK: %[[MAYBE:.*]] = arith.divui %[[THREAD]], %c32_i32
// CHECK: builtin.unrealized_conversion_cast
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[MAYBE]], %c0_i32, %c31_i32 : i32 -> i32
// CHECK-NEXT: %[[PRODUCER:.*]] = arith.cmpi ult, %[[WARP]], %c4_i32
// CHECK-NEXT: scf.if %[[PRODUCER]] {
// CHECK-NEXT: nvvm.setmaxregister decrease 40
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi ult, %[[WARP]], %c1_i32
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK-NEXT: llvm.store %[[X]]
// CHECK-NEXT: }
// CHECK-NEXT: } else {
// CHECK-NEXT: nvvm.setmaxregister increase 232
// CHECK-NEXT: %[[OWN:.*]] = arith.subi %[[THREAD]], %c128_i32
// CHECK: %[[MAYBE:.*]] = arith.divui %[[OWN]], %c32_i32
// CHECK: %[[OWN_WARP:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[MAYBE]]
// CHECK: %[[W:.*]] = arith.index_castui %[[OWN_WARP]]
// CHECK: arith.muli %[[W]], %c16
// CHECK: llvm.store %[[X]]
// CHECK-NOT: wg.
gpu.module @kernels {
  llvm.func @roles(%x: f32, %p: !llvm.ptr)
      attributes {mla.shared_bytes = 1024 : i64, nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>} {
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<128xf32>
    wg.roles warpgroups 2 producer registers 40 {
      llvm.store %x, %p : f32, !llvm.ptr
    } consumer registers 232 {
      %n = arith.constant 100 : index
      %r = wg.splat %x : f32 -> !wg.fragment<128xf32, row>
      wg.store %r, %m count %n : !wg.fragment<128xf32, row>, memref<128xf32>
    }
    llvm.return
  }
}
