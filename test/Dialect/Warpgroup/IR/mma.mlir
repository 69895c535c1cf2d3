// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @shared
// CHECK-SAME: %[[Q:[a-z0-9]+]]: !wg.tile<128x192xbf16>, %[[K:[a-z0-9]+]]: !wg.tile<64x192xbf16>, %[[S:[a-z0-9]+]]: !wg.fragment<128x64xf32, accumulator>
// CHECK: wg.mma %[[Q]], %[[K]] transposed : !wg.tile<128x192xbf16>, <64x192xbf16> -> <<128x64xf32, accumulator>>
// CHECK: wg.mma %[[Q]], %[[K]] transposed accumulate %[[S]] : !wg.fragment<128x64xf32, accumulator>, !wg.tile<128x192xbf16>, <64x192xbf16> -> <<128x64xf32, accumulator>>
func.func @shared(%q: !wg.tile<128x192xbf16>, %k: !wg.tile<64x192xbf16>,
    %s: !wg.fragment<128x64xf32, accumulator>) {
  %0 = wg.mma %q, %k transposed : !wg.tile<128x192xbf16>, !wg.tile<64x192xbf16>
      -> !wg.pending<!wg.fragment<128x64xf32, accumulator>>
  %1 = wg.mma %q, %k transposed accumulate %s : !wg.fragment<128x64xf32, accumulator>,
      !wg.tile<128x192xbf16>, !wg.tile<64x192xbf16>
      -> !wg.pending<!wg.fragment<128x64xf32, accumulator>>
  return
}

// CHECK-LABEL: func.func @registers
// CHECK-SAME: %[[P:[a-z0-9]+]]: !wg.fragment<64x32xf16, operand_a>, %[[V:[a-z0-9]+]]: !wg.tile<32x128xf16>, %[[O:[a-z0-9]+]]: !wg.fragment<64x128xf32, accumulator>
// CHECK: wg.mma %[[P]], %[[V]] : !wg.fragment<64x32xf16, operand_a>, <32x128xf16> -> <<64x128xf32, accumulator>>
// CHECK: wg.mma %[[P]], %[[V]] accumulate %[[O]] : !wg.fragment<64x128xf32, accumulator>, !wg.fragment<64x32xf16, operand_a>, <32x128xf16> -> <<64x128xf32, accumulator>>
func.func @registers(%p: !wg.fragment<64x32xf16, operand_a>, %v: !wg.tile<32x128xf16>,
    %o: !wg.fragment<64x128xf32, accumulator>) {
  %0 = wg.mma %p, %v : !wg.fragment<64x32xf16, operand_a>, !wg.tile<32x128xf16>
      -> !wg.pending<!wg.fragment<64x128xf32, accumulator>>
  %1 = wg.mma %p, %v accumulate %o : !wg.fragment<64x128xf32, accumulator>,
      !wg.fragment<64x32xf16, operand_a>, !wg.tile<32x128xf16>
      -> !wg.pending<!wg.fragment<64x128xf32, accumulator>>
  return
}
