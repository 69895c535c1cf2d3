// A loop over work items becomes a kernel: what it captures is one struct, behind one
// pointer; its two counters are one number of blocks; constants are made again inside.

// RUN: mla-opt %s -mla-warpgroup-outline -split-input-file | FileCheck %s

// CHECK-LABEL: module attributes {gpu.container_module}
// CHECK: func.func @items(%[[N:.*]]: index, %[[F:.*]]: f32, %[[OUT:.*]]: memref<?x8xf32>) {
// CHECK: %[[P:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(f32, struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>)>
// CHECK: %[[R0:.*]] = llvm.mlir.poison : !llvm.struct<(f32, struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>)>
// CHECK: %[[R1:.*]] = llvm.insertvalue %[[F]], %[[R0]][0]
// CHECK: %[[M:.*]] = builtin.unrealized_conversion_cast %[[OUT]] : memref<?x8xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
// CHECK: %[[R2:.*]] = llvm.insertvalue %[[M]], %[[R1]][1]
// CHECK: llvm.store %[[R2]], %[[P]]
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[BLOCKS:.*]] = arith.muli %[[N]], %[[C4]]
// CHECK: %[[THREADS:.*]] = arith.constant 256 : index
// CHECK: gpu.launch_func @items_kernels::@items_kernel blocks in (%[[BLOCKS]], %[[C1]], %[[C1]]) threads in (%[[THREADS]], %[[C1]], %[[C1]]) args(%[[P]] : !llvm.ptr)
// CHECK-NOT: scf.forall

// CHECK: gpu.module @items_kernels
// CHECK: llvm.func @items_kernel(%[[ARG:.*]]: !llvm.ptr {
// CHECK-SAME: llvm.byval = !llvm.struct<(f32, struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>)>
// CHECK-SAME: nvvm.grid_constant
// CHECK-SAME: attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>}
// CHECK: %[[A0:.*]] = llvm.getelementptr %[[ARG]][0, 0]
// CHECK: %[[V0:.*]] = llvm.load %[[A0]] : !llvm.ptr -> f32
// CHECK: %[[A1:.*]] = llvm.getelementptr %[[ARG]][0, 1]
// CHECK: %[[V1:.*]] = llvm.load %[[A1]] : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
// CHECK: %[[D:.*]] = builtin.unrealized_conversion_cast %[[V1]] : {{.*}} to memref<?x8xf32>
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[ID:.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
// CHECK: %[[BLOCK:.*]] = arith.index_cast %[[ID]] : i32 to index
// CHECK: %[[HEADS:.*]] = arith.constant 4 : index
// CHECK: %[[I:.*]] = arith.divui %[[BLOCK]], %[[HEADS]]
// CHECK: %[[H:.*]] = arith.remui %[[BLOCK]], %[[HEADS]]
// CHECK: %[[S:.*]] = wg.splat %[[V0]] : f32 -> <128x8xf32, accumulator>
// CHECK: memref.subview %[[D]][%[[I]], 0]
// CHECK: arith.addi %[[H]], %[[C2]]
// CHECK: llvm.return
func.func @items(%n: index, %f: f32, %out: memref<?x8xf32>) {
  %c2 = arith.constant 2 : index
  scf.forall (%i, %h) in (%n, 4) {
    %s = wg.splat %f : f32 -> !wg.fragment<128x8xf32, accumulator>
    %d = memref.subview %out[%i, 0] [128, 8] [1, 1]
        : memref<?x8xf32> to memref<128x8xf32, strided<[8, 1], offset: ?>>
    %count = arith.addi %h, %c2 : index
    wg.store %s, %d count %count
        : !wg.fragment<128x8xf32, accumulator>, memref<128x8xf32, strided<[8, 1], offset: ?>>
  }
  return
}

// -----

// An inner extent that only the host knows is captured; one warpgroup where there are
// no fragments.
// CHECK-LABEL: func.func @inner
// CHECK-SAME: (%[[N:.*]]: index, %[[H:.*]]: index,
// CHECK: %[[HI:.*]] = builtin.unrealized_conversion_cast %[[H]] : index to i64
// CHECK: llvm.insertvalue %[[HI]], %{{.*}}[1]
// CHECK: arith.muli %[[N]], %[[H]] : index
// CHECK: arith.constant 128 : index
// CHECK: llvm.func @inner_kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK: %[[F:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: %[[HEADS:.*]] = builtin.unrealized_conversion_cast %[[F]] : i64 to index
// CHECK: arith.divui %{{.*}}, %[[HEADS]]
// CHECK: arith.remui %{{.*}}, %[[HEADS]]
func.func @inner(%n: index, %h: index, %out: memref<?xindex>) {
  scf.forall (%i, %j) in (%n, %h) {
    memref.store %j, %out[%i] : memref<?xindex>
  }
  return
}

// -----

// Two loops are two kernels; their names do not clash.
// CHECK-LABEL: func.func @twice
// CHECK: gpu.launch_func @twice_kernels::@twice_kernel
// CHECK: gpu.launch_func @[[SECOND:.*]]::@twice_kernel
// CHECK-DAG: gpu.module @twice_kernels {
// CHECK-DAG: gpu.module @[[SECOND]] {
func.func @twice(%n: index, %out: memref<?xindex>) {
  scf.forall (%i, %j) in (%n, 2) {
    memref.store %j, %out[%i] : memref<?xindex>
  }
  scf.forall (%i, %j) in (%n, 3) {
    memref.store %i, %out[%j] : memref<?xindex>
  }
  return
}

// -----

// Nothing to outline: the module stays as it is.
// CHECK: {{^}}module {
// CHECK: func.func @nothing
func.func @nothing() {
  return
}
