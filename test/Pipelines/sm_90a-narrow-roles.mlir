// Widths that are no multiple of a panel's 64 columns have a producer, rings and tensor
// maps as others have. Of queries the part that meets the rope keys, which begins within a
// panel, is a tile of its own, loaded from the operand at its column.

// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=warpgroup" \
// RUN:   | FileCheck %s --check-prefix=WARPGROUP
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=specialized" | FileCheck %s
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=nvvm" | sed -n '/gpu.module/,$p' \
// RUN:   | FileCheck %s --check-prefix=NVVM --implicit-check-not="wg."

!q = tensor<?x4x112xbf16>
!kv = tensor<?x4x80xbf16>
!pages = tensor<?x1x?x16x1x544xbf16>

// WARPGROUP-LABEL: func.func @rope
// WARPGROUP-SAME: %[[Q:[a-z0-9]+]]: memref<?x4x112xbf16
// WARPGROUP-DAG: %[[NOPE:.*]] = memref.subview %[[Q]][%{{.*}}, %{{.*}}, 0] [%{{.*}}, 1, 80] [1, 1, 1]
// WARPGROUP-DAG: %[[ROPE:.*]] = memref.subview %[[Q]][%{{.*}}, %{{.*}}, 80] [%{{.*}}, 1, 32] [1, 1, 1]
// WARPGROUP-DAG: %[[Q0:.*]] = wg.load %[[NOPE]] count %{{.*}} {mla.operand = "q"} : {{.*}} -> <128x80xbf16>
// WARPGROUP-DAG: %[[Q1:.*]] = wg.load %[[ROPE]] count %{{.*}} {mla.operand = "q"} : {{.*}} -> <128x32xbf16>
// WARPGROUP: scf.for
// WARPGROUP-NOT: wg.columns
// WARPGROUP: wg.mma %[[Q0]], %[[Q1]] by

// One map of q for both parts.
// CHECK-LABEL: func.func @rope
// CHECK-DAG: %[[Q:.*]] = wg.tensor_map %{{.*}} operand "q" : {{.*}} -> <128x1x64xbf16>
// CHECK-DAG: %[[K:.*]] = wg.tensor_map %{{.*}} operand "k" : {{.*}} -> <[[KEYS:[0-9]+]]x1x64xbf16>
// CHECK-DAG: %[[ROPE:.*]] = wg.tensor_map %{{.*}} operand "k_rope" : {{.*}} -> <[[KEYS]]x64xbf16>
// CHECK-DAG: %[[V:.*]] = wg.tensor_map %{{.*}} operand "v" : {{.*}} -> <[[KEYS]]x1x64xbf16>
// CHECK-NOT: wg.tensor_map
// CHECK-DAG: %[[K_RING:.*]] = wg.ring consumers 2 : <2 x !wg.tile<[[KEYS]]x80xbf16>, !wg.tile<[[KEYS]]x32xbf16>>
// CHECK-DAG: %[[V_RING:.*]] = wg.ring consumers 2 : <2 x !wg.tile<[[KEYS]]x80xbf16>>
// CHECK: wg.roles warpgroups 2 producer
// CHECK: wg.copy_box %[[K]][%{{.*}}, %{{.*}}, %c0_i32] to %[[K_RING]][%{{.*}}] element 0 column 0
// CHECK: wg.copy_box %[[K]][%{{.*}}, %{{.*}}, %c64_i32] to %[[K_RING]][%{{.*}}] element 0 column 64
// CHECK: wg.copy_box %[[ROPE]][%{{.*}}, %c0_i32] to %[[K_RING]][%{{.*}}] element 1 column 0
// CHECK-DAG: wg.copy_box %[[Q]][%{{.*}}, %{{.*}}, %c0_i32] to %{{.*}} column 0 : <128x1x64xbf16>, <1 x !wg.tile<128x80xbf16>>
// CHECK-DAG: wg.copy_box %[[Q]][%{{.*}}, %{{.*}}, %c64_i32] to %{{.*}} column 64 : <128x1x64xbf16>, <1 x !wg.tile<128x80xbf16>>
// CHECK-DAG: wg.copy_box %[[Q]][%{{.*}}, %{{.*}}, %c80_i32] to %{{.*}} column 0 : <128x1x64xbf16>, <1 x !wg.tile<128x32xbf16>>
// CHECK: } consumer
// CHECK-NOT: wg.load
// CHECK: return

// NVVM: llvm.func @rope_kernel
// NVVM: nvvm.setmaxregister decrease
// NVVM: nvvm.cp.async.bulk.tensor.shared.cluster.global
// NVVM: nvvm.setmaxregister increase
// NVVM: wgmma.mma_async.sync.aligned
func.func @rope(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %rope: tensor<?x32xbf16>, %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, tensor<?x32xbf16>, f32, !kv) -> !kv
  return %o : !kv
}

// CHECK-LABEL: func.func @pages
// CHECK: %[[MAP:.*]] = wg.tensor_map %{{.*}} operand "kv_blocks" : {{.*}} -> <1x1x16x64xbf16>
// CHECK: %[[RING:.*]] = wg.ring consumers 2 : <2 x !wg.tile<[[KEYS:[0-9]+]]x80xbf16>, !wg.tile<[[KEYS]]x32xbf16>>
// CHECK: wg.roles warpgroups 2 producer
// CHECK: wg.copy_pages %{{.*}} by %[[MAP]][layer %{{.*}}, column 512] through {{.*}} to %[[RING]][%{{.*}}] element 1
// CHECK: } consumer
// CHECK-NOT: wg.load
// CHECK: return
// NVVM: llvm.func @pages_kernel
// NVVM: nvvm.setmaxregister decrease
// NVVM: nvvm.cp.async.bulk.tensor.shared.cluster.global
// NVVM: nvvm.setmaxregister increase
// NVVM: wgmma.mma_async.sync.aligned
func.func @pages(%q: !q, %iro: tensor<?xi32>, %k: !kv, %v: !kv, %bro: tensor<?xi32>,
    %cache: !pages, %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %layer: i32,
    %scale: f32, %out: !kv) -> !kv {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (!q, tensor<?xi32>, !kv, !kv, tensor<?xi32>, !pages, tensor<?x?xi32>,
         tensor<?xi32>, i32, f32, !kv) -> !kv
  return %o : !kv
}
