// What is barriers already goes on from there to the same kernel, but for the order of ops
// that loops do not change. (The host's part is cleaned up once more.)

// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=nvvm" \
// RUN:   | sed -n '/gpu.module/,$p' | sed 's/[%^][a-z0-9]*//g; s/ pred.*//' | sort > %t.straight
// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=rings" > %t.stage
// RUN: mla-opt %t.stage --mla-lower="target=sm_90a stop-after=nvvm" \
// RUN:   | sed -n '/gpu.module/,$p' | sed 's/[%^][a-z0-9]*//g; s/ pred.*//' | sort \
// RUN:   | cmp - %t.straight
