// The other forms of the op: memrefs, a ragged rope with and without lengths, an output
// of another type; and another schedule.

// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=nvvm" | sed -n '/gpu.module/,$p' \
// RUN:   | FileCheck %s --implicit-check-not="wg."

!q = tensor<?x4x128xbf16>
!kv = tensor<?x4x64xbf16>

// CHECK: llvm.func @memrefs_kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 384, 1, 1>
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
func.func @memrefs(%q: memref<?x4x128xbf16>, %iro: memref<?xi32>, %k: memref<?x4x64xbf16>,
    %v: memref<?x4x64xbf16>, %bro: memref<?xi32>, %cache: memref<?x1x?x16x1x96xbf16>,
    %table: memref<?x?xi32>, %lengths: memref<?xi32>, %layer: index, %scale: f32,
    %out: memref<?x4x64xbf16>) {
  mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (memref<?x4x128xbf16>, memref<?xi32>, memref<?x4x64xbf16>, memref<?x4x64xbf16>,
         memref<?xi32>, memref<?x1x?x16x1x96xbf16>, memref<?x?xi32>, memref<?xi32>, index,
         f32, memref<?x4x64xbf16>) -> ()
  return
}

// CHECK: llvm.func @rope_kernel
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
func.func @rope(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %rope: tensor<?x64xbf16>, %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x64xbf16>, f32, !kv) -> !kv
  return %o : !kv
}

// One warpgroup besides the producer's, 64 keys at a time, an f32 result.
// CHECK: llvm.func @schedule_kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK: llvm.store %{{.*}} : vector<2xf32>, !llvm.ptr<1>
func.func @schedule(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %rope: tensor<?x64xbf16>, %lengths: tensor<?xi32>, %scale: f32, %out: tensor<?x4x64xf32>)
    -> tensor<?x4x64xf32> {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope, %lengths)
      scale(%scale) outs(%out)
      {schedule = #mla.schedule<query_tile = 64, key_tile = 64, guarded_key_tile = 64,
         order = ascending, probability = bf16>}
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x64xbf16>, tensor<?xi32>, f32,
         tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  return %o : tensor<?x4x64xf32>
}
