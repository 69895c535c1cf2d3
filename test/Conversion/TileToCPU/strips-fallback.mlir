// What cannot be put into lanes is left in rows, with a remark that says why;
// loops then carry their tiles in place.

// RUN: mla-opt %s -mla-cpu-strips -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @odd
// CHECK: scf.for {{.*}} iter_args(%[[L:.*]] = %{{.*}}) -> (tensor<20xf32>)
// CHECK: %[[REDUCED:.*]] = linalg.reduce
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[REDUCED]] : tensor<20xf32>) outs(%[[L]] : tensor<20xf32>)
// CHECK: scf.yield %[[COPY]]
func.func @odd(%x: tensor<?x20x12xf32>, %n: index, %out: tensor<?x20xf32>) -> tensor<?x20xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  // expected-remark @+1 {{queries stay in rows, which is slower: 'tensor.extract_slice' makes a tile of queries in a way that strips cannot}}
  %r = scf.forall (%i, %j) in (%n, 2) shared_outs(%o = %out) -> (tensor<?x20xf32>) {
    %e_row = tensor.empty() : tensor<20xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%e_row : tensor<20xf32>) -> tensor<20xf32>
    %sum = scf.for %key = %c0 to %c12 step %c4 iter_args(%l = %l0) -> (tensor<20xf32>) {
      %t = tensor.extract_slice %x[%i, 0, %key] [1, 20, 4] [1, 1, 1]
          : tensor<?x20x12xf32> to tensor<20x4xf32>
      %l1 = linalg.reduce { arith.addf } ins(%t : tensor<20x4xf32>) outs(%l : tensor<20xf32>)
          dimensions = [1]
      scf.yield %l1 : tensor<20xf32>
    }
    %part = tensor.extract_slice %sum[0] [%i] [1] : tensor<20xf32> to tensor<?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %o[%i, 0] [1, %i] [1, 1]
          : tensor<?xf32> into tensor<?x20xf32>
    }
  } {mla.vector_schedule = #mla.vector_schedule<strip = 8, block = 4>}
  return %r : tensor<?x20xf32>
}

// -----

// CHECK-LABEL: func.func @no_loop
func.func @no_loop(%x: tensor<8x16xf32>, %n: index, %out: tensor<?x8x16xf32>) -> tensor<?x8x16xf32> {
  // expected-remark @+1 {{queries stay in rows, which is slower: there is no loop that carries tiles}}
  %r = scf.forall (%i, %j) in (%n, 2) shared_outs(%o = %out) -> (tensor<?x8x16xf32>) {
    %e = tensor.empty() : tensor<8x16xf32>
    %y = linalg.exp ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0, 0] [1, 8, 16] [1, 1, 1]
          : tensor<8x16xf32> into tensor<?x8x16xf32>
    }
  } {mla.vector_schedule = #mla.vector_schedule<strip = 8, block = 4>}
  return %r : tensor<?x8x16xf32>
}

// -----

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<?xf32>, %n: index, %out: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{queries stay in rows, which is slower: a key loop carries a tile that is not static}}
  %r = scf.forall (%i, %j) in (%n, 2) shared_outs(%o = %out) -> (tensor<?x?xf32>) {
    %sum = scf.for %key = %c0 to %n step %c1 iter_args(%l = %x) -> (tensor<?xf32>) {
      %y = linalg.exp ins(%l : tensor<?xf32>) outs(%l : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %y : tensor<?xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %o[%i, 0] [1, %n] [1, 1]
          : tensor<?xf32> into tensor<?x?xf32>
    }
  } {mla.vector_schedule = #mla.vector_schedule<strip = 8, block = 4>}
  return %r : tensor<?x?xf32>
}

// -----

// Without a schedule a loop is nobody's business.
// CHECK-LABEL: func.func @no_schedule
// CHECK-NOT: linalg.copy
func.func @no_schedule(%x: tensor<16xf32>, %n: index, %out: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %r = scf.forall (%i) in (%n) shared_outs(%o = %out) -> (tensor<?x16xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i, 0] [1, 16] [1, 1]
          : tensor<16xf32> into tensor<?x16xf32>
    }
  }
  return %r : tensor<?x16xf32>
}
