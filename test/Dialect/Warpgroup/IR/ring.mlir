// A ring of tiles, and one of scalars; uses are numbers.

// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @ring()
// CHECK: %{{.*}} = wg.ring consumers 2 : <2 x !wg.tile<128x128xbf16>, !wg.tile<128x64xbf16>>
// CHECK: %{{.*}} = wg.ring consumers 1 : <1 x !wg.tile<64x64xf16>>
// CHECK: %{{.*}} = wg.ring consumers 3 : <4 x index, i64, i32, i1, f32>
func.func @ring() {
  %0 = wg.ring consumers 2 : !wg.ring<2 x !wg.tile<128x128xbf16>, !wg.tile<128x64xbf16>>
  %1 = wg.ring consumers 1 : !wg.ring<1 x !wg.tile<64x64xf16>>
  %2 = wg.ring consumers 3 : !wg.ring<4 x index, i64, i32, i1, f32>
  return
}

// CHECK-LABEL: func.func @tiles
// CHECK-SAME: %[[RING:[a-z0-9]+]]: !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>, %[[USE:[a-z0-9]+]]: i32, %[[COUNT:[a-z0-9]+]]: index, %[[LAST:[a-z0-9]+]]: i1
// CHECK: wg.acquire %[[RING]][%[[USE]]] : <2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
// CHECK: wg.commit %[[RING]][%[[USE]]] : <2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
// CHECK: wg.clear_rows %[[RING]][%[[USE]]] element 1 from %[[COUNT]] : <2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
// CHECK: %{{.*}}:2 = wg.take %[[RING]][%[[USE]]] : <2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>> -> !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>
// CHECK: wg.release %[[RING]][%[[USE]]] : <2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
// CHECK: wg.release %[[RING]][%[[USE]]] when %[[LAST]] : <2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
func.func @tiles(%ring: !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>, %use: i32,
    %count: index, %last: i1) {
  wg.acquire %ring[%use] : !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
  wg.commit %ring[%use] : !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
  wg.clear_rows %ring[%use] element 1 from %count
      : !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
  %0:2 = wg.take %ring[%use] : !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
      -> !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>
  wg.release %ring[%use] : !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
  wg.release %ring[%use] when %last : !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<64x64xbf16>>
  return
}

// CHECK-LABEL: func.func @scalars
// CHECK-SAME: %[[RING:[a-z0-9]+]]: !wg.ring<2 x index, f32, i1>, %[[USE:[a-z0-9]+]]: i32, %[[X:[a-z0-9]+]]: index, %[[Y:[a-z0-9]+]]: f32, %[[Z:[a-z0-9]+]]: i1
// CHECK: wg.put %[[X]], %[[Y]], %[[Z]] to %[[RING]][%[[USE]]] : !wg.ring<2 x index, f32, i1>
// CHECK: %{{.*}}:3 = wg.take %[[RING]][%[[USE]]] : <2 x index, f32, i1> -> index, f32, i1
func.func @scalars(%ring: !wg.ring<2 x index, f32, i1>, %use: i32, %x: index, %y: f32, %z: i1) {
  wg.put %x, %y, %z to %ring[%use] : !wg.ring<2 x index, f32, i1>
  %0:3 = wg.take %ring[%use] : !wg.ring<2 x index, f32, i1> -> index, f32, i1
  return
}

// Nobody may drop or merge them: each is a wait or a signal.
// RUN: mla-opt %s -canonicalize -cse | FileCheck %s --check-prefix=KEPT
// KEPT-LABEL: func.func @twice
// KEPT-COUNT-2: wg.acquire
// KEPT-COUNT-2: wg.commit
// KEPT-COUNT-2: wg.take
// KEPT-COUNT-2: wg.release
func.func @twice(%ring: !wg.ring<2 x i32>, %use: i32) {
  wg.acquire %ring[%use] : !wg.ring<2 x i32>
  wg.acquire %ring[%use] : !wg.ring<2 x i32>
  wg.commit %ring[%use] : !wg.ring<2 x i32>
  wg.commit %ring[%use] : !wg.ring<2 x i32>
  %0 = wg.take %ring[%use] : !wg.ring<2 x i32> -> i32
  %1 = wg.take %ring[%use] : !wg.ring<2 x i32> -> i32
  wg.release %ring[%use] : !wg.ring<2 x i32>
  wg.release %ring[%use] : !wg.ring<2 x i32>
  return
}
