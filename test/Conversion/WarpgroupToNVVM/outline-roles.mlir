// A kernel with roles has a warpgroup more, that of the producer. Each tensor map is a
// parameter of its own, of 128 bytes at a multiple of 64; the last one are the counters
// that items are claimed from.

// RUN: mla-opt %s -mla-warpgroup-outline | FileCheck %s

// CHECK: func.func @roles(%{{.*}}: index, %[[F:.*]]: f32, %[[M:.*]]: memref<?x64xbf16>)
// The record's memory is the function's, not the loop's.
// CHECK: %[[P:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(f32)>
// CHECK: %[[MAP:.*]] = wg.tensor_map %[[M]]
// CHECK: scf.for
// CHECK-NOT: llvm.alloca
// CHECK: llvm.store %{{.*}}, %[[P]] : !llvm.struct<(f32)>
// CHECK: %[[Q:.*]] = builtin.unrealized_conversion_cast %[[MAP]] : !wg.tensor_map<64x64xbf16> to !llvm.ptr
// CHECK: gpu.launch_func @roles_kernels::@roles_kernel blocks in ({{.*}}) threads in (%c384, %c1{{.*}}, %c1{{.*}}) args(%[[P]] : !llvm.ptr, %[[Q]] : !llvm.ptr) {wg.resident}
// CHECK: llvm.func @roles_kernel(%[[RECORD:.*]]: !llvm.ptr {llvm.byval = !llvm.struct<(f32)>, nvvm.grid_constant}, %[[PARAMETER:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{.*}}: !llvm.ptr) attributes {gpu.kernel, mla.slot_bytes = 8 : i64, nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>}
// CHECK: %[[KERNEL_MAP:.*]] = builtin.unrealized_conversion_cast %[[PARAMETER]] : !llvm.ptr to !wg.tensor_map<64x64xbf16>
// CHECK: wg.copy_box %[[KERNEL_MAP]]
func.func @roles(%n: index, %f: f32, %m: memref<?x64xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %map = wg.tensor_map %m operand "m" : memref<?x64xbf16> -> !wg.tensor_map<64x64xbf16>
  scf.for %i = %c0 to %n step %c1 {
    scf.forall (%block) in (%n) {
      %ring = wg.ring consumers 2 : !wg.ring<1 x !wg.tile<64x64xbf16>>
      wg.roles warpgroups 2 producer registers 40 {
        %zero = arith.constant 0 : i32
        wg.copy_box %map[%zero, %zero] to %ring[%zero] element 0 column 0
            : !wg.tensor_map<64x64xbf16>, !wg.ring<1 x !wg.tile<64x64xbf16>>
        %next = wg.claim
        wg.retire
      } consumer registers 232 {
        %s = wg.splat %f : f32 -> !wg.fragment<128x8xf32, accumulator>
      }
    } {wg.resident}
  }
  return
}

// Without a claim there are no counters.
// CHECK: llvm.func @no_claim_kernel(%{{[a-z0-9]+}}: !llvm.ptr {{{[^}]*}}}) attributes
// CHECK-NOT: mla.slot_bytes
// CHECK-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
func.func @no_claim(%n: index, %f: f32) {
  scf.forall (%block) in (%n) {
    wg.roles warpgroups 1 producer registers 40 {
    } consumer registers 232 {
      %s = wg.splat %f : f32 -> !wg.fragment<64x8xf32, accumulator>
    }
  }
  return
}
