// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 18

// expected-error @+1 {{tile: expected two positive extents, got [128]}}
func.func private @tile_rank(!wg.tile<128xbf16>)

// -----

// expected-error @+1 {{tile: expected two positive extents, got [0, 64]}}
func.func private @tile_empty(!wg.tile<0x64xbf16>)

// -----

// expected-error @+1 {{expected static shape}}
func.func private @tile_dynamic(!wg.tile<?x64xbf16>)

// -----

// expected-error @+1 {{tile: expected elements of bf16 or f16, got 'f32'}}
func.func private @tile_element(!wg.tile<128x64xf32>)

// -----

// expected-error @+1 {{tile: expected a multiple of 8 rows, got 12}}
func.func private @tile_rows(!wg.tile<12x64xbf16>)

// -----

// expected-error @+1 {{tile: expected a multiple of 16 columns, got 24}}
func.func private @tile_columns(!wg.tile<128x24xbf16>)

// -----

// expected-error @+1 {{expected accumulator, operand_a, row or partial, got 'column'}}
func.func private @fragment_kind(!wg.fragment<128xf32, column>)

// -----

// expected-error @+1 {{expected static shape}}
func.func private @fragment_dynamic(!wg.fragment<?x64xf32, accumulator>)

// -----

// expected-error @+1 {{row: expected rank 1, got 2}}
func.func private @row_rank(!wg.fragment<128x64xf32, row>)

// -----

// expected-error @+1 {{partial: expected rank 1, got 2}}
func.func private @partial_rank(!wg.fragment<128x64xf32, partial>)

// -----

// expected-error @+1 {{accumulator: expected rank 2, got 1}}
func.func private @accumulator_rank(!wg.fragment<128xf32, accumulator>)

// -----

// expected-error @+1 {{fragment: expected a multiple of 64 rows, got 96}}
func.func private @fragment_rows(!wg.fragment<96x64xf32, accumulator>)

// -----

// expected-error @+1 {{fragment: expected a multiple of 64 rows, got 0}}
func.func private @fragment_empty(!wg.fragment<0xf32, row>)

// -----

// expected-error @+1 {{fragment: expected bf16, f16 or f32, got 'i32'}}
func.func private @fragment_element(!wg.fragment<64x64xi32, accumulator>)

// -----

// expected-error @+1 {{accumulator: expected a multiple of 8 columns, got 12}}
func.func private @accumulator_columns(!wg.fragment<64x12xf32, accumulator>)

// -----

// expected-error @+1 {{operand_a: expected a multiple of 16 columns, got 24}}
func.func private @operand_a_columns(!wg.fragment<64x24xbf16, operand_a>)

// -----

// expected-error @+2 {{expected wg.fragment, but found '!wg.tile<64x64xbf16>'}}
// expected-error @+1 {{failed to parse WG_Pending parameter 'fragment'}}
func.func private @pending_tile(!wg.pending<!wg.tile<64x64xbf16>>)
