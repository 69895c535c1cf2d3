// Two regions, run at the same time by different warpgroups.

// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @roles
// CHECK-SAME: %[[RING:[a-z0-9]+]]: !wg.ring<2 x !wg.tile<128x64xbf16>>, %[[USE:[a-z0-9]+]]: i32
// CHECK: wg.roles warpgroups 2 producer registers 40 {
// CHECK-NEXT: wg.acquire %[[RING]][%[[USE]]]
// CHECK-NEXT: } consumer registers 232 {
// CHECK-NEXT: wg.release %[[RING]][%[[USE]]]
// CHECK-NEXT: }
func.func @roles(%ring: !wg.ring<2 x !wg.tile<128x64xbf16>>, %use: i32) {
  wg.roles warpgroups 2 producer registers 40 {
    wg.acquire %ring[%use] : !wg.ring<2 x !wg.tile<128x64xbf16>>
  } consumer registers 232 {
    wg.release %ring[%use] : !wg.ring<2 x !wg.tile<128x64xbf16>>
  }
  return
}

// Any number of warpgroups, as far as registers go.
// CHECK-LABEL: func.func @one
// CHECK: wg.roles warpgroups 1 producer registers 24 {
// CHECK-NEXT: } consumer registers 256 {
func.func @one() {
  wg.roles warpgroups 1 producer registers 24 {
  } consumer registers 256 {
  }
  return
}

// CHECK-LABEL: func.func @three
// CHECK: wg.roles warpgroups 3 producer registers 32 {
// CHECK-NEXT: } consumer registers 160 {
func.func @three() {
  wg.roles warpgroups 3 producer registers 32 {
  } consumer registers 160 {
  }
  return
}
