// The loop over work items becomes a call of the runtime's thread pool and a
// function for one item. What the item allocates is part of a buffer that its
// thread owns: nothing is allocated for each.

// RUN: mla-opt %s -mla-cpu-threads -split-input-file | FileCheck %s

// CHECK-DAG: llvm.func @mlaRuntimeParallelFor(i64, i64, i64, !llvm.ptr, !llvm.ptr)

// CHECK-LABEL: func.func @work
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[X:[a-z0-9]+]]: memref<?xf32, strided<[?], offset: ?>>, %[[F:[a-z0-9]+]]: f32
// CHECK-NOT: scf.forall
// Captured values, in a struct on the stack.
// CHECK: llvm.insertvalue
// CHECK: %[[CAPTURES:.*]] = llvm.alloca
// CHECK: llvm.store %{{.*}}, %[[CAPTURES]]
// 64 bytes for the flags, 128 for the numbers.
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(192 : i64)
// CHECK: %[[THUNK:.*]] = llvm.mlir.addressof @work_thunk
// CHECK: llvm.call @mlaRuntimeParallelFor(%{{.*}}, %{{.*}}, %[[BYTES]], %[[THUNK]], %[[CAPTURES]])
// CHECK-NEXT: return
func.func @work(%n: index, %x: memref<?xf32, strided<[?], offset: ?>>, %f: f32) {
  %c5 = arith.constant 5 : index
  scf.forall (%i, %j) in (%n, 3) {
    %numbers = memref.alloc() {alignment = 64 : i64} : memref<32xf32>
    %flags = memref.alloc() : memref<10xi8>
    memref.store %f, %numbers[%j] : memref<32xf32>
    %y = memref.load %numbers[%c5] : memref<32xf32>
    memref.store %y, %x[%i] : memref<?xf32, strided<[?], offset: ?>>
    %z = memref.load %flags[%c5] : memref<10xi8>
    memref.store %z, %flags[%j] : memref<10xi8>
    memref.dealloc %numbers : memref<32xf32>
    memref.dealloc %flags : memref<10xi8>
  }
  return
}

// CHECK-LABEL: func.func private @work_item
// CHECK-SAME: %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index, %[[SCRATCH:[a-z0-9]+]]: memref<?xi8>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.dealloc
// CHECK-DAG: memref.view %[[SCRATCH]][%{{.*}}][] : memref<?xi8> to memref<32xf32>
// CHECK-DAG: memref.view %[[SCRATCH]][%{{.*}}][] : memref<?xi8> to memref<10xi8>
// CHECK-NOT: memref.alloc
// CHECK: memref.store %{{.*}}[%[[I]]]
// CHECK-NOT: memref.dealloc
// CHECK: return

// CHECK: llvm.func internal @work_thunk(%[[CONTEXT:.*]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr)
// CHECK: llvm.load %[[CONTEXT]]
// CHECK: call @work_item

// -----

// A loop of more dimensions runs on the calling thread.
// CHECK-LABEL: func.func @others
// CHECK: scf.forall (%{{.*}}) in (%{{.*}}, 2, 3)
// CHECK-NOT: mlaRuntimeParallelFor
// CHECK: return
func.func @others(%n: index, %x: memref<?xindex>) {
  scf.forall (%i, %j, %k) in (%n, 2, 3) {
    memref.store %i, %x[%i] : memref<?xindex>
  }
  return
}

// -----

// A dimension of one item, which canonicalization folds away, is no reason to.
// CHECK-LABEL: func.func @one_dimension
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: llvm.call @mlaRuntimeParallelFor
func.func @one_dimension(%n: index, %x: memref<?xindex>) {
  scf.forall (%i) in (%n) {
    memref.store %i, %x[%i] : memref<?xindex>
  }
  return
}

// -----

// Two loops of one function get names of their own.
// CHECK-LABEL: func.func @two
// CHECK: llvm.mlir.addressof @[[A:two_thunk[_0-9]*]]
// CHECK: llvm.mlir.addressof @[[B:two_thunk[_0-9]*]]
// CHECK-DAG: llvm.func internal @[[A]]
// CHECK-DAG: llvm.func internal @[[B]]
func.func @two(%n: index, %x: memref<?x?xindex>) {
  scf.forall (%i, %j) in (%n, %n) {
    memref.store %i, %x[%i, %j] : memref<?x?xindex>
  }
  scf.forall (%i, %j) in (%n, %n) {
    memref.store %j, %x[%i, %j] : memref<?x?xindex>
  }
  return
}
