// On a GPU, too, what was written by hand stays, and what was not is chosen: sizes that
// fill the multiprocessor, in the operands' elements.

// RUN: mla-opt %s -mla-select-schedule="target=sm_90a" | FileCheck %s

// CHECK-LABEL: func.func @prefill
// CHECK: mla.prefill #mla.causal
// CHECK-SAME: schedule = #mla.schedule<query_tile = 128, key_tile = {{32|64|128}}, guarded_key_tile = {{32|64|128}}, order = guarded_first, probability = bf16>
// CHECK: mla.prefill #mla.null
// CHECK-SAME: schedule = #mla.schedule<query_tile = 64, key_tile = 48, guarded_key_tile = 16, order = ascending, probability = bf16>
func.func @prefill(%q: tensor<?x2x48xbf16>, %offsets: tensor<?xi32>,
    %k: tensor<?x2x32xbf16>, %rope: tensor<?x16xbf16>, %scale: f32,
    %out: tensor<?x2x32xbf16>) -> tensor<?x2x32xbf16> {
  %0 = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x48xbf16>, tensor<?xi32>, tensor<?x2x32xbf16>, tensor<?x2x32xbf16>,
         tensor<?xi32>, tensor<?x16xbf16>, f32, tensor<?x2x32xbf16>) -> tensor<?x2x32xbf16>
  %1 = mla.prefill #mla.null queries(%q, %offsets) keys(%k, %k, %offsets)
      rope(%rope) scale(%scale) outs(%0)
      {schedule = #mla.schedule<query_tile = 64, key_tile = 48, guarded_key_tile = 16,
         order = ascending, probability = bf16>}
      : (tensor<?x2x48xbf16>, tensor<?xi32>, tensor<?x2x32xbf16>, tensor<?x2x32xbf16>,
         tensor<?xi32>, tensor<?x16xbf16>, f32, tensor<?x2x32xbf16>) -> tensor<?x2x32xbf16>
  return %1 : tensor<?x2x32xbf16>
}

// Roles and registers take the place of lanes.
// CHECK-LABEL: func.func @loops
// CHECK: mla.role_schedule = #mla.role_schedule<slots = {{[0-9]+}}, producer_registers = {{[0-9]+}}, consumer_registers = {{[0-9]+}}>
// CHECK: mla.role_schedule = #mla.role_schedule<slots = 1, producer_registers = 24, consumer_registers = 240>
// CHECK-SAME: mla.vector_schedule = #mla.vector_schedule<strip = 5, block = 3>
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
