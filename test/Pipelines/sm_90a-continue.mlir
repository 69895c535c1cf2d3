// The text after a stage goes on from there to what comes out without a stop. The
// input is in its neighbour.

// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=nvvm" > %t.straight

// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=schedule" > %t.schedule
// RUN: mla-opt %t.schedule --mla-lower="target=sm_90a stop-after=nvvm" | cmp - %t.straight

// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=tile" > %t.tile
// RUN: mla-opt %t.tile --mla-lower="target=sm_90a stop-after=nvvm" | cmp - %t.straight
// RUN: mla-opt %t.tile -mlir-print-op-generic \
// RUN:   | mla-opt --mla-lower="target=sm_90a stop-after=nvvm" | cmp - %t.straight
// RUN: mla-opt %t.tile -emit-bytecode \
// RUN:   | mla-opt --mla-lower="target=sm_90a stop-after=nvvm" | cmp - %t.straight

// From a kernel on, the host's part is cleaned up once more; the kernel is the same.
// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=kernel" > %t.kernel
// RUN: mla-opt %t.kernel --mla-lower="target=sm_90a stop-after=nvvm" \
// RUN:   | sed -n '/gpu.module/,$p' > %t.from.kernel
// RUN: sed -n '/gpu.module/,$p' %t.straight | cmp - %t.from.kernel
