// Tiles of one block lie side by side, at multiples of 1024 bytes; what two loops load
// is never needed at once, and shares memory.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

// 16 KiB, then twice 8 KiB at one place, the second with 1 KiB behind it.
// CHECK: llvm.func @places
// CHECK-SAME: mla.shared_bytes = 25600 : i64
// CHECK: %[[START:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
// CHECK: scf.for
// CHECK: arith.addi %[[START]], %c16384_i32
// CHECK: scf.for
// CHECK: arith.addi %[[START]], %c16384_i32
// CHECK: arith.addi %[[START]], %c24576_i32
gpu.module @kernels {
  llvm.func @places(%p: !llvm.ptr, %n: i64)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %end = builtin.unrealized_conversion_cast %n : i64 to index
    %a = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x128xbf16>
    %b = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x64xbf16>
    %c = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<8x32xbf16>
    %0 = wg.load %a : memref<64x128xbf16> -> !wg.tile<64x128xbf16>
    scf.for %i = %c0 to %end step %c1 {
      %1 = wg.load %b : memref<64x64xbf16> -> !wg.tile<64x64xbf16>
    }
    scf.for %i = %c0 to %end step %c1 {
      %2 = wg.load %b : memref<64x64xbf16> -> !wg.tile<64x64xbf16>
      %3 = wg.load %c : memref<8x32xbf16> -> !wg.tile<8x32xbf16>
    }
    llvm.return
  }
}
