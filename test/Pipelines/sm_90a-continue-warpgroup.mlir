// What is in wg ops already goes on from there.

// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=nvvm" > %t.straight
// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=warpgroup" > %t.warpgroup
// RUN: mla-opt %t.warpgroup --mla-lower="target=sm_90a stop-after=nvvm" | cmp - %t.straight
