// Widths that are no multiple of a panel's 64 columns: what is in shared memory past a
// tile's last column is not read.

// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=nvvm" | FileCheck %s

!q = tensor<?x4x80xbf16>
!kv = tensor<?x4x64xbf16>

// CHECK: llvm.func @rope_kernel
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
func.func @rope(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %rope: tensor<?x16xbf16>, %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x16xbf16>, f32, !kv) -> !kv
  return %o : !kv
}

// CHECK: llvm.func @pages_kernel
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
func.func @pages(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %cache: tensor<?x1x?x16x1x32xbf16>, %table: tensor<?x?xi32>, %lengths: tensor<?xi32>,
    %layer: i32, %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x1x?x16x1x32xbf16>,
         tensor<?x?xi32>, tensor<?xi32>, i32, f32, !kv) -> !kv
  return %o : !kv
}
