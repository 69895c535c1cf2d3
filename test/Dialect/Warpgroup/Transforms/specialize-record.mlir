// The record of an item holds what consumers cannot work out without it: scalars of any
// kind that ops of tiles need, each once. Not constants, which both roles have, nor what
// only a tile's address or another scalar is made of, nor views of operands.

// RUN: mla-opt %s -mla-wg-specialize -canonicalize -cse | FileCheck %s

!m = memref<?x64xbf16>
!rows = memref<64x64xbf16, strided<[64, 1], offset: ?>>
!t = !wg.tile<64x64xbf16>
!s = !wg.fragment<64x64xf32, accumulator>
!os = memref<?x64xf32, strided<[64, 1], offset: ?>>

// CHECK-LABEL: func.func @record
// CHECK-SAME: %[[BIASES:[a-z0-9]+]]: memref<?xf32>, %[[FLAGS:[a-z0-9]+]]: memref<?xi1>, %[[STARTS:[a-z0-9]+]]: memref<?xindex>, %[[SCALE:[a-z0-9]+]]: f32
// CHECK: %[[RECORDS:.*]] = wg.ring consumers 1 : <2 x index, f32, i1, index, i1>
// CHECK: wg.roles
// CHECK: ^bb0(%[[I:.*]]: index, %{{.*}}: i32, %{{.*}}: i32):
// CHECK-DAG: %[[BIAS:.*]] = memref.load %[[BIASES]][%[[I]]]
// CHECK-DAG: %[[FLAG:.*]] = memref.load %[[FLAGS]][%[[I]]]
// CHECK-DAG: %[[START:.*]] = memref.load %[[STARTS]][%[[I]]]
// CHECK-DAG: %[[END:.*]] = arith.addi %[[START]], %c64
// CHECK: wg.put %[[I]], %[[BIAS]], %[[FLAG]], %[[END]], %true to %[[RECORDS]]
// CHECK: wg.put %c0, %cst{{.*}}, %false, %c0, %false to %[[RECORDS]]
// CHECK: } consumer
// CHECK: %[[R:.*]]:5 = wg.take %[[RECORDS]]
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %[[I:.*]]: index, %[[BIAS:.*]]: f32, %[[FLAG:.*]]: i1, %[[END:.*]]: index):
// CHECK-NOT: memref.load
// CHECK: scf.for %{{.*}} = %c0 to %[[END]] step %c64
// CHECK: arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: arith.addf %{{.*}}, %[[BIAS]]
// CHECK: arith.select %[[FLAG]]
// CHECK-NOT: memref.load
// CHECK: memref.subview %{{.*}}[%[[I]], 0]
func.func @record(%biases: memref<?xf32>, %flags: memref<?xi1>, %starts: memref<?xindex>,
    %scale: f32, %k: !m, %out: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %bias = memref.load %biases[%i] : memref<?xf32>
    %flag = memref.load %flags[%i] : memref<?xi1>
    %start = memref.load %starts[%i] : memref<?xindex>
    %end = arith.addi %start, %c64 : index
    %init = wg.splat %zero : f32 -> !s
    %r = scf.for %j = %c0 to %end step %c64 iter_args(%acc = %init) -> (!s) {
      %row = arith.addi %start, %j : index
      %ks = memref.subview %k[%row, 0] [64, 64] [1, 1] : !m to !rows
      %kt = wg.load %ks : !rows -> !t
      %sp = wg.mma %kt by %kt accumulate %acc : !s, !t by !t -> !wg.pending<!s>
      %s = wg.wait %sp : !wg.pending<!s> -> !s
      scf.yield %s : !s
    }
    %d = wg.map %r : !s -> !s {
    ^bb0(%x: f32, %a: index, %b: index):
      %y = arith.mulf %x, %scale : f32
      %z = arith.addf %y, %bias : f32
      %w = arith.select %flag, %z, %x : f32
      wg.yield %w : f32
    }
    %os = memref.subview %out[%i, 0] [64, 64] [1, 1] : memref<?x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    wg.store %d, %os count %c64 : !s, memref<64x64xf32, strided<[64, 1], offset: ?>>
  } {mla.role_schedule = #mla.role_schedule<slots = 2, producer_registers = 40,
       consumer_registers = 232>}
  return
}
