// What a loop carries are vectors, one element a register.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm | FileCheck %s

// CHECK: llvm.func @loop
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<2xf32>, i32) {
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}} : vector<8xf32>, vector<2xf32>, i32
// CHECK-NOT: wg.
gpu.module @kernels {
  llvm.func @loop(%x: f32, %n: i64, %p: !llvm.ptr)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i0 = arith.constant 0 : i32
    %end = builtin.unrealized_conversion_cast %n : i64 to index
    %s = wg.splat %x : f32 -> !wg.fragment<64x16xf32, accumulator>
    %r = wg.splat %x : f32 -> !wg.fragment<64xf32, row>
    %u:3 = scf.for %i = %c0 to %end step %c1 iter_args(%a = %s, %b = %r, %c = %i0)
        -> (!wg.fragment<64x16xf32, accumulator>, !wg.fragment<64xf32, row>, i32) {
      %d = wg.map %b : !wg.fragment<64xf32, row> -> !wg.fragment<64xf32, row> {
      ^bb0(%e: f32, %row: index, %column: index):
        %f = arith.negf %e : f32
        wg.yield %f : f32
      }
      scf.yield %a, %d, %c : !wg.fragment<64x16xf32, accumulator>, !wg.fragment<64xf32, row>, i32
    }
    llvm.return
  }
}
