// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @shared
// CHECK-SAME: %[[Q:[a-z0-9]+]]: !wg.tile<128x192xbf16>, %[[K:[a-z0-9]+]]: !wg.tile<64x192xbf16>, %[[S:[a-z0-9]+]]: !wg.fragment<128x64xf32, accumulator>
// CHECK: wg.mma %[[Q]] by %[[K]] transposed : !wg.tile<128x192xbf16> by !wg.tile<64x192xbf16> -> <<128x64xf32, accumulator>>
// CHECK: wg.mma %[[Q]] by %[[K]] transposed accumulate %[[S]] : !wg.fragment<128x64xf32, accumulator>, !wg.tile<128x192xbf16> by !wg.tile<64x192xbf16> -> <<128x64xf32, accumulator>>
func.func @shared(%q: !wg.tile<128x192xbf16>, %k: !wg.tile<64x192xbf16>,
    %s: !wg.fragment<128x64xf32, accumulator>) {
  %0 = wg.mma %q by %k transposed : !wg.tile<128x192xbf16> by !wg.tile<64x192xbf16>
      -> !wg.pending<!wg.fragment<128x64xf32, accumulator>>
  %1 = wg.mma %q by %k transposed accumulate %s : !wg.fragment<128x64xf32, accumulator>,
      !wg.tile<128x192xbf16> by !wg.tile<64x192xbf16>
      -> !wg.pending<!wg.fragment<128x64xf32, accumulator>>
  return
}

// A sum of products, with one accumulator.
// CHECK-LABEL: func.func @pairs
// CHECK-SAME: %[[X:[a-z0-9]+]]: !wg.tile<128x128xbf16>, %[[Y:[a-z0-9]+]]: !wg.tile<128x64xbf16>, %[[K:[a-z0-9]+]]: !wg.tile<64x128xbf16>, %[[R:[a-z0-9]+]]: !wg.tile<64x64xbf16>, %[[S:[a-z0-9]+]]: !wg.fragment<128x64xf32, accumulator>
// CHECK: wg.mma %[[X]], %[[Y]] by %[[K]], %[[R]] transposed : !wg.tile<128x128xbf16>, !wg.tile<128x64xbf16> by !wg.tile<64x128xbf16>, !wg.tile<64x64xbf16> -> <<128x64xf32, accumulator>>
// CHECK: wg.mma %[[X]], %[[Y]] by %[[K]], %[[R]] transposed accumulate %[[S]] : !wg.fragment<128x64xf32, accumulator>, !wg.tile<128x128xbf16>, !wg.tile<128x64xbf16> by !wg.tile<64x128xbf16>, !wg.tile<64x64xbf16> -> <<128x64xf32, accumulator>>
func.func @pairs(%x: !wg.tile<128x128xbf16>, %y: !wg.tile<128x64xbf16>,
    %k: !wg.tile<64x128xbf16>, %r: !wg.tile<64x64xbf16>,
    %s: !wg.fragment<128x64xf32, accumulator>) {
  %0 = wg.mma %x, %y by %k, %r transposed
      : !wg.tile<128x128xbf16>, !wg.tile<128x64xbf16>
      by !wg.tile<64x128xbf16>, !wg.tile<64x64xbf16>
      -> !wg.pending<!wg.fragment<128x64xf32, accumulator>>
  %1 = wg.mma %x, %y by %k, %r transposed accumulate %s
      : !wg.fragment<128x64xf32, accumulator>, !wg.tile<128x128xbf16>, !wg.tile<128x64xbf16>
      by !wg.tile<64x128xbf16>, !wg.tile<64x64xbf16>
      -> !wg.pending<!wg.fragment<128x64xf32, accumulator>>
  return
}

// CHECK-LABEL: func.func @registers
// CHECK-SAME: %[[P:[a-z0-9]+]]: !wg.fragment<64x32xf16, operand_a>, %[[V:[a-z0-9]+]]: !wg.tile<32x128xf16>, %[[O:[a-z0-9]+]]: !wg.fragment<64x128xf32, accumulator>
// CHECK: wg.mma %[[P]] by %[[V]] : !wg.fragment<64x32xf16, operand_a> by !wg.tile<32x128xf16> -> <<64x128xf32, accumulator>>
// CHECK: wg.mma %[[P]] by %[[V]] accumulate %[[O]] : !wg.fragment<64x128xf32, accumulator>, !wg.fragment<64x32xf16, operand_a> by !wg.tile<32x128xf16> -> <<64x128xf32, accumulator>>
func.func @registers(%p: !wg.fragment<64x32xf16, operand_a>, %v: !wg.tile<32x128xf16>,
    %o: !wg.fragment<64x128xf32, accumulator>) {
  %0 = wg.mma %p by %v : !wg.fragment<64x32xf16, operand_a> by !wg.tile<32x128xf16>
      -> !wg.pending<!wg.fragment<64x128xf32, accumulator>>
  %1 = wg.mma %p by %v accumulate %o : !wg.fragment<64x128xf32, accumulator>,
      !wg.fragment<64x32xf16, operand_a> by !wg.tile<32x128xf16>
      -> !wg.pending<!wg.fragment<64x128xf32, accumulator>>
  return
}
