// A tile is copied in chunks of 16 bytes, one a thread and lap: all loads, then all
// stores to swizzled places, between barriers, with a fence for the matrix unit's
// asynchronous proxy before the second.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK: llvm.mlir.global external @mla_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// 24 rows of 8 chunks for 128 threads: one lap and a half.
// CHECK: llvm.func @rows
// CHECK-SAME: mla.shared_bytes = 3072 : i64
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0> : vector<4xi32>
// CHECK-DAG: %[[SHARED:.*]] = llvm.mlir.addressof @mla_shared : !llvm.ptr<3>
// CHECK-DAG: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-DAG: %[[THREAD:.*]] = arith.index_castui %[[TID]]
// CHECK-DAG: %[[COUNT:.*]] = builtin.unrealized_conversion_cast %{{.*}} : i64 to index
// CHECK: %[[START:.*]] = llvm.ptrtoint %[[SHARED]] : !llvm.ptr<3> to i32
// CHECK: nvvm.barrier0
// CHECK: %[[ROW:.*]] = arith.divui %[[THREAD]], %c8
// CHECK: %[[CHUNK:.*]] = arith.remui %[[THREAD]], %c8
// CHECK: %[[THERE:.*]] = arith.cmpi ult, %[[ROW]], %[[COUNT]]
// CHECK: %[[DATA:.*]] = scf.if %[[THERE]] -> (vector<4xi32>) {
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[ZERO]]
// CHECK: %[[TWIST:.*]] = arith.andi %[[ROW]], %c7
// CHECK: arith.xori %{{.*}}, %[[TWIST]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[THREAD]], %c128
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[NEXT]], %c192
// CHECK: scf.if
// CHECK-NOT: llvm.store
// CHECK: llvm.load
// CHECK: llvm.store %[[DATA]], %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK: scf.if %[[INSIDE]] {
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK-NEXT: }
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT: nvvm.barrier0
// CHECK-NOT: wg.
gpu.module @kernels {
  llvm.func @rows(%p: !llvm.ptr, %n: i64)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %m = builtin.unrealized_conversion_cast %p
        : !llvm.ptr to memref<?x64xbf16, strided<[?, 1], offset: ?>>
    %count = builtin.unrealized_conversion_cast %n : i64 to index
    %t = wg.load %m count %count
        : memref<?x64xbf16, strided<[?, 1], offset: ?>> -> !wg.tile<24x64xbf16>
    llvm.return
  }

  // Where all rows are there, nothing is asked.
  // CHECK: llvm.func @all
  // CHECK-NOT: scf.if
  // CHECK-COUNT-4: llvm.load
  // CHECK-NOT: llvm.load
  // CHECK-COUNT-4: llvm.store
  // CHECK: llvm.return
  llvm.func @all(%p: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<64x128xf16>
    %t = wg.load %m : memref<64x128xf16> -> !wg.tile<64x128xf16>
    llvm.return
  }
}
