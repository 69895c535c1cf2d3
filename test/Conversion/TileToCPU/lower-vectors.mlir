// Contractions become multiply-adds of whole registers, eight steps of the reduction
// in one iteration; what transfers are left move one row each.

// RUN: mla-opt %s -mla-cpu-lower-vectors="avx2=true" | FileCheck %s \
// RUN:   --implicit-check-not="vector.{{contract|outerproduct|multi_reduction|transfer}}"
// RUN: mla-opt %s -mla-cpu-lower-vectors | FileCheck %s --check-prefix=GENERIC \
// RUN:   --implicit-check-not=llvm.inline_asm

// The dialect of the shuffles, which the rest of a pipeline would load.
llvm.func @no_one()

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @contraction
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c8 {{.*}} -> (vector<2x16xf32>)
// CHECK-COUNT-16: {{vector|math}}.fma {{.*}}vector<16xf32>
// CHECK-NOT: fma
// CHECK: scf.yield
func.func @contraction(%x: memref<64x2xf32>, %y: memref<64x16xf32>, %z: memref<2x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %pad = arith.constant 0.0 : f32
  %acc0 = vector.transfer_read %z[%c0, %c0], %pad {in_bounds = [true, true]}
      : memref<2x16xf32>, vector<2x16xf32>
  %acc = scf.for %k = %c0 to %c64 step %c1 iter_args(%acc = %acc0) -> (vector<2x16xf32>) {
    %a = vector.transfer_read %x[%k, %c0], %pad {in_bounds = [true, true]}
        : memref<64x2xf32>, vector<1x2xf32>
    %b = vector.transfer_read %y[%k, %c0], %pad {in_bounds = [true, true]}
        : memref<64x16xf32>, vector<1x16xf32>
    %next = vector.contract {indexing_maps = [#a, #b, #c],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %a, %b, %acc : vector<1x2xf32>, vector<1x16xf32> into vector<2x16xf32>
    scf.yield %next : vector<2x16xf32>
  }
  vector.transfer_write %acc, %z[%c0, %c0] {in_bounds = [true, true]}
      : vector<2x16xf32>, memref<2x16xf32>
  return
}

// The shuffles of AVX2 for 8 x 8, only where there is AVX2.
// CHECK-LABEL: func.func @transpose
// CHECK: llvm.inline_asm asm_dialect
// GENERIC-LABEL: func.func @transpose
// GENERIC: vector.shuffle
func.func @transpose(%x: memref<8x8xf32>, %y: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true, true]}
      : memref<8x8xf32>, vector<8x8xf32>
  %t = vector.transpose %v, [1, 0] : vector<8x8xf32> to vector<8x8xf32>
  vector.transfer_write %t, %y[%c0, %c0] {in_bounds = [true, true]}
      : vector<8x8xf32>, memref<8x8xf32>
  return
}
