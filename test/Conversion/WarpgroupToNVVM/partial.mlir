// A reduction into a partial stays in the thread; wg.combine is the exchange in the quad.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK: llvm.func @partial
// CHECK-SAME: (%[[X:[a-z0-9]+]]: f32, %[[Y:[a-z0-9]+]]: f32
// CHECK: builtin.unrealized_conversion_cast
// Eight columns of a row are two in each thread; with what was there, scaled.
// CHECK-NOT: nvvm.shfl
// CHECK: %[[SCALED:.*]] = arith.mulf %[[Y]], %[[X]]
// CHECK: %[[PAIR:.*]] = arith.addf %[[X]], %[[X]]
// CHECK: %[[PART:.*]] = arith.addf %[[PAIR]], %[[SCALED]]
// CHECK: %[[S1:.*]] = nvvm.shfl.sync bfly %c-1_i32, %[[PART]], %c1_i32, %c31_i32 : f32 -> f32
// CHECK: %[[HALF:.*]] = arith.addf %[[S1]], %[[PART]]
// CHECK: %[[S2:.*]] = nvvm.shfl.sync bfly %c-1_i32, %[[HALF]], %c2_i32, %c31_i32 : f32 -> f32
// CHECK: %[[SUM:.*]] = arith.addf %[[S2]], %[[HALF]]
// The row 8 below.
// CHECK-COUNT-2: nvvm.shfl.sync bfly
// CHECK: %[[SUM8:.*]] = arith.addf
// CHECK-NOT: nvvm.shfl
// Each of two threads stores one of the rows.
// CHECK: %[[SECOND:.*]] = arith.cmpi ne, %{{.*}}, %c0 : index
// CHECK: %[[MINE:.*]] = arith.select %[[SECOND]], %[[SUM8]], %[[SUM]] : f32
// CHECK: llvm.store %[[MINE]]
// CHECK-NOT: llvm.store
// CHECK: llvm.return
gpu.module @kernels {
  llvm.func @partial(%x: f32, %y: f32, %p: !llvm.ptr)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64xf32>
    %c64 = arith.constant 64 : index
    %s = wg.splat %x : f32 -> !wg.fragment<64x8xf32, accumulator>
    %c = wg.splat %x : f32 -> !wg.fragment<64xf32, row>
    %start = wg.splat %y : f32 -> !wg.fragment<64xf32, partial>
    %scaled = wg.map %start, %c : !wg.fragment<64xf32, partial>, !wg.fragment<64xf32, row>
        -> !wg.fragment<64xf32, partial> {
    ^bb0(%a: f32, %b: f32, %row: index, %column: index):
      %d = arith.mulf %a, %b : f32
      wg.yield %d : f32
    }
    %sum = wg.reduce %s, %scaled : !wg.fragment<64x8xf32, accumulator> -> !wg.fragment<64xf32, partial> {
    ^bb0(%a: f32, %b: f32):
      %d = arith.addf %a, %b : f32
      wg.yield %d : f32
    }
    %all = wg.combine %sum : !wg.fragment<64xf32, partial> -> !wg.fragment<64xf32, row> {
    ^bb0(%a: f32, %b: f32):
      %d = arith.addf %a, %b : f32
      wg.yield %d : f32
    }
    wg.store %all, %m count %c64 : !wg.fragment<64xf32, row>, memref<64xf32>
    llvm.return
  }
}
