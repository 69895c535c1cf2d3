// A box of a tensor goes into a panel of 64 columns.

// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @panels
// CHECK-SAME: %[[MAP:[a-z0-9]+]]: !wg.tensor_map<128x1x64xbf16>, %[[RING:[a-z0-9]+]]: !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<128x192xbf16>>, %[[USE:[a-z0-9]+]]: i32, %[[ROW:[a-z0-9]+]]: i32, %[[HEAD:[a-z0-9]+]]: i32, %[[COLUMN:[a-z0-9]+]]: i32
// CHECK: wg.copy_box %[[MAP]][%[[ROW]], %[[HEAD]], %[[COLUMN]]] to %[[RING]][%[[USE]]] element 1 column 128 : <128x1x64xbf16>, <2 x !wg.tile<128x64xbf16>, !wg.tile<128x192xbf16>>
func.func @panels(%map: !wg.tensor_map<128x1x64xbf16>,
    %ring: !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<128x192xbf16>>, %use: i32, %row: i32,
    %head: i32, %column: i32) {
  wg.copy_box %map[%row, %head, %column] to %ring[%use] element 1 column 128
      : !wg.tensor_map<128x1x64xbf16>, !wg.ring<2 x !wg.tile<128x64xbf16>, !wg.tile<128x192xbf16>>
  return
}

// The last panel may be narrower. The box may be, too, or bring more than is read.
// CHECK-LABEL: func.func @narrow
// CHECK: wg.copy_box {{.*}} element 0 column 64 : <64x16xf16>, <1 x !wg.tile<64x80xf16>>
// CHECK: wg.copy_box {{.*}} element 0 column 64 : <64x64xf16>, <1 x !wg.tile<64x80xf16>>
func.func @narrow(%map: !wg.tensor_map<64x16xf16>, %panel: !wg.tensor_map<64x64xf16>,
    %ring: !wg.ring<1 x !wg.tile<64x80xf16>>, %use: i32, %row: i32, %column: i32) {
  wg.copy_box %map[%row, %column] to %ring[%use] element 0 column 64
      : !wg.tensor_map<64x16xf16>, !wg.ring<1 x !wg.tile<64x80xf16>>
  wg.copy_box %panel[%row, %column] to %ring[%use] element 0 column 64
      : !wg.tensor_map<64x64xf16>, !wg.ring<1 x !wg.tile<64x80xf16>>
  return
}
