// The text after a stage goes on from there to what comes out without a stop. The
// input is in its neighbour; later stages have files of their own.

// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=nvvm" > %t.straight

// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=schedule" > %t.schedule
// RUN: mla-opt %t.schedule --mla-lower="target=sm_90a stop-after=nvvm" | cmp - %t.straight

// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=tile" > %t.tile
// RUN: mla-opt %t.tile --mla-lower="target=sm_90a stop-after=nvvm" | cmp - %t.straight
// RUN: mla-opt %t.tile -mlir-print-op-generic \
// RUN:   | mla-opt --mla-lower="target=sm_90a stop-after=nvvm" | cmp - %t.straight
// RUN: mla-opt %t.tile -emit-bytecode \
// RUN:   | mla-opt --mla-lower="target=sm_90a stop-after=nvvm" | cmp - %t.straight
