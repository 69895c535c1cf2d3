// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @columns
// CHECK-SAME: %[[TILE:[a-z0-9]+]]: !wg.tile<128x192xbf16>
// CHECK: %{{.*}} = wg.columns %[[TILE]][128] : <128x192xbf16> -> <128x64xbf16>
// A part of a panel, from its first column.
// CHECK: %{{.*}} = wg.columns %[[TILE]][64] : <128x192xbf16> -> <128x16xbf16>
func.func @columns(%tile: !wg.tile<128x192xbf16>) {
  %0 = wg.columns %tile[128] : !wg.tile<128x192xbf16> -> !wg.tile<128x64xbf16>
  %1 = wg.columns %tile[64] : !wg.tile<128x192xbf16> -> !wg.tile<128x16xbf16>
  return
}
