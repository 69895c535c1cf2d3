// Functions that the special function unit has; others, and other types, stay.

// RUN: mla-opt %s -mla-math-to-nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @math
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f64
gpu.module @kernels {
  llvm.func @math(%x: f32, %y: f64) -> !llvm.struct<(f32, f32, f32, f64)> {
    // CHECK-DAG: %[[LN2:.*]] = arith.constant 0.693147182 : f32
    // CHECK: %[[A:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%[[X]]) : (f32) -> f32
    %a = math.exp2 %x : f32
    // CHECK: %[[L:.*]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%[[A]]) : (f32) -> f32
    // CHECK: arith.mulf %[[L]], %[[LN2]] : f32
    %b = math.log %a : f32
    // CHECK: math.sqrt
    %c = math.sqrt %x : f32
    // CHECK: math.exp2 %[[Y]] : f64
    %d = math.exp2 %y : f64
    %0 = llvm.mlir.poison : !llvm.struct<(f32, f32, f32, f64)>
    %1 = llvm.insertvalue %a, %0[0] : !llvm.struct<(f32, f32, f32, f64)>
    %2 = llvm.insertvalue %b, %1[1] : !llvm.struct<(f32, f32, f32, f64)>
    %3 = llvm.insertvalue %c, %2[2] : !llvm.struct<(f32, f32, f32, f64)>
    %4 = llvm.insertvalue %d, %3[3] : !llvm.struct<(f32, f32, f32, f64)>
    llvm.return %4 : !llvm.struct<(f32, f32, f32, f64)>
  }
}

// The host's code has its own functions.
// CHECK-LABEL: func.func @host
func.func @host(%x: f32) -> f32 {
  // CHECK: math.exp2
  %a = math.exp2 %x : f32
  return %a : f32
}
