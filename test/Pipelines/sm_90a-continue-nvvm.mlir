// What is NVVM already keeps what was found about it.

// RUN: mla-opt %S/sm_90a.mlir --mla-lower="target=sm_90a stop-after=nvvm" > %t.nvvm
// RUN: mla-opt %t.nvvm --mla-lower="target=sm_90a stop-after=nvvm" | FileCheck %s
// CHECK: llvm.func @prefill_kernel
// CHECK-SAME: mla.shared_bytes = 230656 : i64
// CHECK-SAME: mla.slot_bytes = 8 : i64
