// One pass chooses sizes: those of mla.prefill, and those of loops over work items,
// wherever they came from. What was written by hand stays.

// RUN: mla-opt %s -mla-select-schedule="target=cpu-avx512" | FileCheck %s
// RUN: mla-opt %s -mla-select-schedule="target=cpu-avx2" | FileCheck %s --check-prefix=AVX2
// RUN: mla-opt %s -mla-select-schedule="target=cpu-generic" | FileCheck %s --check-prefix=GENERIC
// The default is this machine.
// RUN: mla-opt %s -mla-select-schedule | FileCheck %s --check-prefix=HOST

// CHECK-LABEL: func.func @prefill
// CHECK: mla.prefill #mla.causal
// CHECK-SAME: schedule = #mla.schedule<query_tile = {{[0-9]+}}, key_tile = {{[0-9]+}}, guarded_key_tile = {{[0-9]+}}, order = {{[a-z_]+}}, probability = {{[a-z0-9]+}}>
// CHECK: mla.prefill #mla.null
// CHECK-SAME: schedule = #mla.schedule<query_tile = 48, key_tile = 20, guarded_key_tile = 5, order = guarded_first, probability = f32>
// HOST: mla.prefill #mla.causal
// HOST-SAME: schedule = #mla.schedule<
func.func @prefill(%q: tensor<?x2x24xf32>, %offsets: tensor<?xi32>,
    %k: tensor<?x2x16xf32>, %rope: tensor<?x8xf32>, %scale: f32,
    %out: tensor<?x2x16xf32>) -> tensor<?x2x16xf32> {
  %0 = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  %1 = mla.prefill #mla.null queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%0)
      {schedule = #mla.schedule<query_tile = 48, key_tile = 20, guarded_key_tile = 5,
         order = guarded_first, probability = f32>}
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return %1 : tensor<?x2x16xf32>
}

// A strip is a whole number of vector registers.
// CHECK-LABEL: func.func @loops
// CHECK: mla.vector_schedule = #mla.vector_schedule<strip = {{16|32|48|64}}, block = {{[0-9]+}}>
// CHECK: mla.role_schedule = #mla.role_schedule<slots = 1
// CHECK-SAME: mla.vector_schedule = #mla.vector_schedule<strip = 5, block = 3>
// AVX2: mla.vector_schedule = #mla.vector_schedule<strip = {{8|16|24|32}}, block
// GENERIC: mla.vector_schedule = #mla.vector_schedule<strip = {{4|8|16}}, block
func.func @loops(%n: index, %out: tensor<?xf32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %0 = scf.forall (%i) in (%n) shared_outs(%o = %out) -> (tensor<?xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %zero into %o[%i] [1] [1]
          : tensor<1xf32> into tensor<?xf32>
    }
  }
  %1 = scf.forall (%i) in (%n) shared_outs(%o = %0) -> (tensor<?xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %zero into %o[%i] [1] [1]
          : tensor<1xf32> into tensor<?xf32>
    }
  } {mla.vector_schedule = #mla.vector_schedule<strip = 5, block = 3>,
     mla.role_schedule = #mla.role_schedule<slots = 1, producer_registers = 24,
       consumer_registers = 240>}
  return %1 : tensor<?xf32>
}
