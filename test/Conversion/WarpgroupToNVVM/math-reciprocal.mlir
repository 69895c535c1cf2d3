// 1 / x is one instruction; other quotients, and other types, are divided. What rounds a
// quotient of integers down or up is written out.

// RUN: mla-opt %s -mla-math-to-nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @quotients
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f64, %[[I:.*]]: i64, %[[J:.*]]: i64
gpu.module @kernels {
  llvm.func @quotients(%x: f32, %y: f64, %i: i64, %j: i64)
      -> !llvm.struct<(f32, f32, f64, i64)> {
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %one64 = arith.constant 1.0 : f64
    // CHECK: nvvm.rcp.approx.ftz.f %[[X]] : f32
    %a = arith.divf %one, %x : f32
    // CHECK: arith.divf %{{.*}}, %[[X]] : f32
    %b = arith.divf %two, %x : f32
    // CHECK: arith.divf %{{.*}}, %[[Y]] : f64
    %c = arith.divf %one64, %y : f64
    // CHECK: arith.divsi %[[I]], %[[J]]
    // CHECK-NOT: arith.floordivsi
    %d = arith.floordivsi %i, %j : i64
    %0 = llvm.mlir.poison : !llvm.struct<(f32, f32, f64, i64)>
    %1 = llvm.insertvalue %a, %0[0] : !llvm.struct<(f32, f32, f64, i64)>
    %2 = llvm.insertvalue %b, %1[1] : !llvm.struct<(f32, f32, f64, i64)>
    %3 = llvm.insertvalue %c, %2[2] : !llvm.struct<(f32, f32, f64, i64)>
    %4 = llvm.insertvalue %d, %3[3] : !llvm.struct<(f32, f32, f64, i64)>
    llvm.return %4 : !llvm.struct<(f32, f32, f64, i64)>
  }
}
