// What is barriers already goes on from there to the same kernel. (The host's part is
// cleaned up once more, and may differ in the order of its constants.)
// Not yet: constants of the kernel are made in another order.

// XFAIL: *
// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=nvvm" \
// RUN:   | sed -n '/gpu.module/,$p' > %t.straight
// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=rings" > %t.stage
// RUN: mla-opt %t.stage --mla-lower="target=sm_90a stop-after=nvvm" \
// RUN:   | sed -n '/gpu.module/,$p' | cmp - %t.straight
