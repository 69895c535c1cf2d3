// What has roles already goes on from there.
// Not yet: casts of the producer's loops, which do not change in them, move out of them
// on the second way.

// XFAIL: *
// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=nvvm" > %t.straight
// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=specialized" > %t.specialized
// RUN: mla-opt %t.specialized --mla-lower="target=sm_90a stop-after=nvvm" | cmp - %t.straight
