// A value's type says where it lives: shared memory, registers, or a product that is
// not there yet.

// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func private @tiles(!wg.tile<128x192xbf16>, !wg.tile<8x16xf16>)
func.func private @tiles(!wg.tile<128x192xbf16>, !wg.tile<8x16xf16>)

// CHECK-LABEL: func.func private @fragments
// CHECK-SAME: (!wg.fragment<128x64xf32, accumulator>, !wg.fragment<64x8xbf16, accumulator>,
// CHECK-SAME:  !wg.fragment<64x16xf16, operand_a>, !wg.fragment<128x8xf32, operand_a>,
// CHECK-SAME:  !wg.fragment<192xf32, row>, !wg.fragment<64xf32, partial>)
func.func private @fragments(!wg.fragment<128x64xf32, accumulator>,
    !wg.fragment<64x8xbf16, accumulator>, !wg.fragment<64x16xf16, operand_a>,
    !wg.fragment<128x8xf32, operand_a>, !wg.fragment<192xf32, row>,
    !wg.fragment<64xf32, partial>)

// CHECK-LABEL: func.func private @pending(!wg.pending<<64x128xf32, accumulator>>)
func.func private @pending(!wg.pending<!wg.fragment<64x128xf32, accumulator>>)
