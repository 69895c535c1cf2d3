// RUN: mla-opt %s | mla-opt | FileCheck %s

// CHECK-LABEL: func.func private @schedules
// CHECK-SAME: a = #mla.schedule<query_tile = 256, key_tile = 128, guarded_key_tile = 16, order = ascending, probability = f32>
// CHECK-SAME: b = #mla.schedule<query_tile = 1, key_tile = 1, guarded_key_tile = 1, order = guarded_first, probability = bf16>
// CHECK-SAME: c = #mla.schedule<query_tile = 48, key_tile = 96, guarded_key_tile = 96, order = ascending, probability = f16>
func.func private @schedules() attributes {
  a = #mla.schedule<query_tile = 256, key_tile = 128, guarded_key_tile = 16,
                    order = ascending, probability = f32>,
  b = #mla.schedule<query_tile = 1, key_tile = 1, guarded_key_tile = 1,
                    order = guarded_first, probability = bf16>,
  c = #mla.schedule<query_tile = 48, key_tile = 96, guarded_key_tile = 96,
                    order = ascending, probability = f16>}

// CHECK-LABEL: func.func private @vector_schedule
// CHECK-SAME: mla.vector_schedule = #mla.vector_schedule<strip = 16, block = 4>
func.func private @vector_schedule() attributes {
  mla.vector_schedule = #mla.vector_schedule<strip = 16, block = 4>}

// CHECK-LABEL: func.func private @role_schedule
// CHECK-SAME: mla.role_schedule = #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 232>
func.func private @role_schedule() attributes {
  mla.role_schedule = #mla.role_schedule<slots = 2, producer_registers = 40,
                                         consumer_registers = 232>}
