// exp2 of f32 becomes a polynomial and bits; other types are left to others. How
// exact it is: test/Integration/CPU/exp2.mlir.

// RUN: mla-opt %s -mla-cpu-expand-exp2 | FileCheck %s

// CHECK-LABEL: func.func @vector
// CHECK-SAME: %[[X:.*]]: vector<4x16xf32>
// CHECK-NOT: math.exp2
// A NaN is outside of nothing, and stays.
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[X]], %{{.*}} : vector<4x16xf32>
// CHECK: %[[X1:.*]] = arith.select %[[BELOW]], %{{.*}}, %[[X]]
// CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[X1]], %{{.*}}
// CHECK: %[[X2:.*]] = arith.select %[[ABOVE]], %{{.*}}, %[[X1]]
// CHECK: %[[WHOLE:.*]] = math.roundeven %[[X2]]
// CHECK: %[[F:.*]] = arith.subf %[[X2]], %[[WHOLE]]
// CHECK-COUNT-5: math.fma %{{.*}}, %[[F]], %{{.*}} : vector<4x16xf32>
// CHECK-NOT: math.fma
// CHECK: arith.fptosi %[[WHOLE]] : vector<4x16xf32> to vector<4x16xi32>
// CHECK: arith.shli
// CHECK: arith.bitcast %{{.*}} : vector<4x16xi32> to vector<4x16xf32>
// CHECK: arith.mulf
func.func @vector(%x: vector<4x16xf32>) -> vector<4x16xf32> {
  %y = math.exp2 %x : vector<4x16xf32>
  return %y : vector<4x16xf32>
}

// CHECK-LABEL: func.func @scalar
// CHECK-NOT: math.exp2
// CHECK: arith.bitcast %{{.*}} : i32 to f32
func.func @scalar(%x: f32) -> f32 {
  %y = math.exp2 %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @others
// CHECK: math.exp2 %{{.*}} : f64
// CHECK: math.exp2 %{{.*}} : vector<8xf16>
// CHECK: math.exp %{{.*}} : f32
func.func @others(%x: f64, %y: vector<8xf16>, %z: f32) -> (f64, vector<8xf16>, f32) {
  %a = math.exp2 %x : f64
  %b = math.exp2 %y : vector<8xf16>
  %c = math.exp %z : f32
  return %a, %b, %c : f64, vector<8xf16>, f32
}
