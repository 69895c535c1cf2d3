// The sequence of a work item is found by a scan over the offsets, which only the
// device knows. A sequence's last tile comes first.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK: llvm.func @locate
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: %[[OFFSETS:.*]] = builtin.unrealized_conversion_cast %arg0
// CHECK: %[[ITEM:.*]] = builtin.unrealized_conversion_cast %arg1
// CHECK: %[[ENTRIES:.*]] = memref.dim %[[OFFSETS]], %[[C0]]
// CHECK: %[[SEQUENCES:.*]] = arith.subi %[[ENTRIES]], %[[C1]]
// CHECK: %[[FOUND:.*]]:4 = scf.for %[[B:.*]] = %[[C0]] to %[[SEQUENCES]] step %[[C1]] iter_args(%[[LEFT:.*]] = %[[ITEM]], %[[SEQUENCE:.*]] = %[[C0]], %[[FIRST:.*]] = %[[C0]], %[[COUNT:.*]] = %[[C0]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[B]], %[[C1]]
// CHECK: %[[END:.*]] = memref.load %[[OFFSETS]][%[[NEXT]]]
// CHECK: %[[BEGIN:.*]] = memref.load %[[OFFSETS]][%[[B]]]
// CHECK: %[[ROWS:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: %[[TILES:.*]] = arith.ceildivsi %[[ROWS]], %[[C128]]
// CHECK: %[[GE:.*]] = arith.cmpi sge, %[[LEFT]], %[[C0]]
// CHECK: %[[LT:.*]] = arith.cmpi slt, %[[LEFT]], %[[TILES]]
// CHECK: %[[HERE:.*]] = arith.andi %[[GE]], %[[LT]]
// CHECK: %[[LAST:.*]] = arith.subi %[[TILES]], %[[C1]]
// CHECK: %[[NUMBER:.*]] = arith.subi %[[LAST]], %[[LEFT]]
// CHECK: %[[ROW:.*]] = arith.muli %[[NUMBER]], %[[C128]]
// CHECK: %[[REST:.*]] = arith.subi %[[ROWS]], %[[ROW]]
// CHECK: %[[MANY:.*]] = arith.minsi %[[REST]], %[[C128]]
// CHECK: %[[LESS:.*]] = arith.subi %[[LEFT]], %[[TILES]]
// CHECK: %[[S:.*]] = arith.select %[[HERE]], %[[B]], %[[SEQUENCE]]
// CHECK: %[[F:.*]] = arith.select %[[HERE]], %[[ROW]], %[[FIRST]]
// CHECK: %[[C:.*]] = arith.select %[[HERE]], %[[MANY]], %[[COUNT]]
// CHECK: scf.yield %[[LESS]], %[[S]], %[[F]], %[[C]]
// CHECK: memref.store %[[FOUND]]#1, %{{.*}}[%[[FOUND]]#2]
// CHECK: memref.store %[[FOUND]]#3, %{{.*}}[%[[ITEM]]]
gpu.module @kernels {
  llvm.func @locate(%o: !llvm.ptr, %n: i64, %p: !llvm.ptr)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %offsets = builtin.unrealized_conversion_cast %o : !llvm.ptr to memref<?xui32>
    %number = builtin.unrealized_conversion_cast %n : i64 to index
    %out = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<?xindex>
    %sequence, %first, %count = wg.locate %number in %offsets tile 128 : memref<?xui32>
    memref.store %sequence, %out[%first] : memref<?xindex>
    memref.store %count, %out[%number] : memref<?xindex>
    llvm.return
  }
}
