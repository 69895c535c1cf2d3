// Every size that no loop could have is refused when it is read.

// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 | grep 'error:' \
// RUN:   | grep -v 'was not produced' | count 21

// expected-error @+1 {{query_tile: expected a positive number, got 0}}
#s = #mla.schedule<query_tile = 0, key_tile = 32, guarded_key_tile = 16, order = ascending, probability = f32>
func.func private @f() attributes {s = #s}

// -----

// expected-error @+1 {{query_tile: expected a positive number, got -64}}
#s = #mla.schedule<query_tile = -64, key_tile = 32, guarded_key_tile = 16, order = ascending, probability = f32>
func.func private @f() attributes {s = #s}

// -----

// expected-error @+1 {{key_tile: expected a positive number, got 0}}
#s = #mla.schedule<query_tile = 64, key_tile = 0, guarded_key_tile = 16, order = ascending, probability = f32>
func.func private @f() attributes {s = #s}

// -----

// expected-error @+1 {{key_tile: expected a positive number, got -32}}
#s = #mla.schedule<query_tile = 64, key_tile = -32, guarded_key_tile = 16, order = ascending, probability = f32>
func.func private @f() attributes {s = #s}

// -----

// expected-error @+1 {{guarded_key_tile: expected a positive divisor of key_tile = 32, got 0}}
#s = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = 0, order = ascending, probability = f32>
func.func private @f() attributes {s = #s}

// -----

// expected-error @+1 {{guarded_key_tile: expected a positive divisor of key_tile = 32, got -16}}
#s = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = -16, order = ascending, probability = f32>
func.func private @f() attributes {s = #s}

// -----

// expected-error @+1 {{guarded_key_tile: expected a positive divisor of key_tile = 32, got 12}}
#s = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = 12, order = ascending, probability = f32>
func.func private @f() attributes {s = #s}

// -----

// expected-error @+1 {{guarded_key_tile: expected a positive divisor of key_tile = 32, got 64}}
#s = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = 64, order = ascending, probability = f32>
func.func private @f() attributes {s = #s}

// -----

// expected-error @+2 {{expected ::mlir::mla::LoopOrder to be one of: ascending, guarded_first}}
// expected-error @+1 {{failed to parse MLA_Schedule parameter 'order'}}
#s = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = 16, order = descending, probability = f32>
func.func private @f() attributes {s = #s}

// -----

// expected-error @+1 {{probability: expected bf16, f16 or f32, got 'f64'}}
#s = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = 16, order = ascending, probability = f64>
func.func private @f() attributes {s = #s}

// -----

// expected-error @+2 {{invalid kind of type specified}}
// expected-error @+1 {{failed to parse MLA_Schedule parameter 'probability'}}
#s = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = 16, order = ascending, probability = i32>
func.func private @f() attributes {s = #s}

// -----

// expected-error @+1 {{strip: expected a positive number, got 0}}
func.func private @f() attributes {v = #mla.vector_schedule<strip = 0, block = 4>}

// -----

// expected-error @+1 {{strip: expected a positive number, got -8}}
func.func private @f() attributes {v = #mla.vector_schedule<strip = -8, block = 4>}

// -----

// expected-error @+1 {{block: expected a positive number, got 0}}
func.func private @f() attributes {v = #mla.vector_schedule<strip = 8, block = 0>}

// -----

// expected-error @+1 {{block: expected a positive number, got -4}}
func.func private @f() attributes {v = #mla.vector_schedule<strip = 8, block = -4>}

// -----

// expected-error @+1 {{slots: expected a positive number, got 0}}
func.func private @f() attributes {r = #mla.role_schedule<slots = 0, producer_registers = 40, consumer_registers = 232>}

// -----

// expected-error @+1 {{registers: expected a multiple of 8 from 24 to 256, got 16}}
func.func private @f() attributes {r = #mla.role_schedule<slots = 2, producer_registers = 16, consumer_registers = 232>}

// -----

// expected-error @+1 {{registers: expected a multiple of 8 from 24 to 256, got 250}}
func.func private @f() attributes {r = #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 250>}

// -----

// expected-error @+1 {{registers: expected a multiple of 8 from 24 to 256, got 264}}
func.func private @f() attributes {r = #mla.role_schedule<slots = 2, producer_registers = 40, consumer_registers = 264>}
