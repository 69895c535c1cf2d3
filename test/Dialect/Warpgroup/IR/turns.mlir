// Consumer warpgroups that issue their products one after the other.

// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s
// They are for their effect, and stay.
// RUN: mla-opt %s -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @turns
// CHECK-NEXT: wg.start_turns
// CHECK-NEXT: wg.await_turn
// CHECK-NEXT: wg.pass_turn
// CHECK-NEXT: wg.await_turn
// CHECK-NEXT: wg.pass_turn
// CHECK-NEXT: return
func.func @turns() {
  wg.start_turns
  wg.await_turn
  wg.pass_turn
  wg.await_turn
  wg.pass_turn
  return
}
