// What is in wg ops already goes on from there.
// Not yet: loop-invariant code moves out of the loop over work items, which then
// captures a fragment.

// XFAIL: *
// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=nvvm" > %t.straight
// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=warpgroup" > %t.warpgroup
// RUN: mla-opt %t.warpgroup --mla-lower="target=sm_90a stop-after=nvvm" \
// RUN:   | sed -n '/gpu.module/,$p' > %t.from.warpgroup
// RUN: sed -n '/gpu.module/,$p' %t.straight | cmp - %t.from.warpgroup
