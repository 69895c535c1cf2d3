// More of the GPU's approximations: tanh is one instruction, exp goes by exp2; a maximum
// is one instruction already and stays.

// RUN: mla-opt %s -mla-math-to-nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @math
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f64
gpu.module @kernels {
  llvm.func @math(%x: f32, %y: f64) -> f64 {
    // CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
    // CHECK: %[[A:.*]] = llvm.inline_asm asm_dialect = att "tanh.approx.f32 $0, $1;", "=f,f" %[[X]] : (f32) -> f32
    %a = math.tanh %x : f32
    // CHECK: %[[B:.*]] = arith.mulf %[[A]], %[[LOG2E]]
    // CHECK: %[[C:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%[[B]])
    %b = math.exp %a : f32
    // CHECK: arith.maximumf %[[C]], %[[X]] : f32
    %c = arith.maximumf %b, %x : f32
    // CHECK: math.tanh %[[Y]] : f64
    %d = math.tanh %y : f64
    // CHECK: math.exp %{{.*}} : f64
    %e = math.exp %d : f64
    %f = arith.extf %c : f32 to f64
    %g = arith.addf %e, %f : f64
    llvm.return %g : f64
  }
}
