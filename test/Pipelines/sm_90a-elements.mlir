// Elements that the matrix instruction does not take are refused, whichever operand
// has them.

// RUN: sed -e 's/Q16/f32/' -e 's/CACHE16/f32/' %s > %t.all.mlir
// RUN: not mla-opt %t.all.mlir --mla-lower="target=sm_90a" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALL
// ALL: error: 'mla.prefill' op 'q': expected bf16 or f16 on a GPU, got 'f32'
// RUN: sed -e 's/Q16/bf16/' -e 's/CACHE16/f32/' %s > %t.cache.mlir
// RUN: not mla-opt %t.cache.mlir --mla-lower="target=sm_90a" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CACHE
// CACHE: error: 'mla.prefill' op 'kv_blocks': expected 'bf16' (as 'q') on a GPU, got 'f32'
// RUN: sed -e 's/Q16/f16/' -e 's/CACHE16/bf16/' %s > %t.mixed.mlir
// RUN: not mla-opt %t.mixed.mlir --mla-lower="target=sm_90a" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MIXED
// MIXED: error: 'mla.prefill' op 'kv_blocks': expected 'f16' (as 'q') on a GPU, got 'bf16'
// RUN: sed -e 's/Q16/bf16/' -e 's/CACHE16/bf16/' %s \
// RUN:   | mla-opt --mla-lower="target=sm_90a stop-after=nvvm" -o /dev/null

!q = tensor<?x16x192xQ16>
!kv = tensor<?x16x128xQ16>
!pages = tensor<?x1x?x64x1x576xCACHE16>

func.func @prefill(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %cache: !pages, %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %layer: i32,
    %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, !pages, tensor<?x?xi32>,
         tensor<?xi32>, i32, f32, !kv) -> !kv
  return %o : !kv
}
