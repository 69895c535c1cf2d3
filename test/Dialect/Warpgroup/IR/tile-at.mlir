// A tile whose address is known; no more than a name for it.

// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s
// RUN: mla-opt %s -cse | FileCheck %s --check-prefix=CSE

// CHECK-LABEL: func.func @tile_at
// CHECK-SAME: %[[ADDRESS:[a-z0-9]+]]: i32
// CHECK: %{{.*}} = wg.tile_at %[[ADDRESS]] : !wg.tile<128x64xbf16>
// CSE-LABEL: func.func @tile_at
// CSE-COUNT-1: wg.tile_at
// CSE-NOT: wg.tile_at
func.func @tile_at(%address: i32) -> (!wg.tile<128x64xbf16>, !wg.tile<128x64xbf16>) {
  %0 = wg.tile_at %address : !wg.tile<128x64xbf16>
  %1 = wg.tile_at %address : !wg.tile<128x64xbf16>
  return %0, %1 : !wg.tile<128x64xbf16>, !wg.tile<128x64xbf16>
}
