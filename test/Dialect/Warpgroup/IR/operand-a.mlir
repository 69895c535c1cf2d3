// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s -mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: func.func @operand_a
// CHECK-SAME: %[[P:[a-z0-9]+]]: !wg.fragment<128x64xbf16, accumulator>
// CHECK: %{{.*}} = wg.operand_a %[[P]] : <128x64xbf16, accumulator> -> <128x64xbf16, operand_a>
func.func @operand_a(%p: !wg.fragment<128x64xbf16, accumulator>) {
  %0 = wg.operand_a %p : !wg.fragment<128x64xbf16, accumulator>
      -> !wg.fragment<128x64xbf16, operand_a>
  return
}
