// What stands in the module after each stage on the way to a GPU, and what is gone.
// Each stage's text parses, verifies and prints as it was.

// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=schedule" > %t.schedule.mlir
// RUN: mla-opt %t.schedule.mlir | cmp - %t.schedule.mlir
// RUN: FileCheck %s --check-prefix=SCHEDULE --input-file=%t.schedule.mlir
// SCHEDULE: mla.prefill #mla.causal
// SCHEDULE-SAME: schedule = #mla.schedule<query_tile = 128, key_tile = 128, guarded_key_tile = 128, order = guarded_first, probability = bf16>

// Functions read memory themselves; the loops are those of any target.
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=tile" > %t.tile.mlir
// RUN: mla-opt %t.tile.mlir | cmp - %t.tile.mlir
// RUN: FileCheck %s --check-prefix=TILE --input-file=%t.tile.mlir \
// RUN:   --implicit-check-not="{{mla\.prefill|wg\.|gpu\.}}"
// TILE: func.func @prefill(%{{.*}}: memref<?x16x192xbf16, strided<[?, ?, 1], offset: ?>>
// TILE: bufferization.to_tensor
// TILE: scf.forall (%{{.*}}, %{{.*}}) in (%{{.*}}, 16)
// TILE: mla.locate
// TILE: mla.gather_pages
// TILE: linalg.matmul
// TILE: bufferization.materialize_in_destination
// TILE-NEXT: return{{$}}

// Every tile has a home.
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=warpgroup" > %t.warpgroup.mlir
// RUN: mla-opt %t.warpgroup.mlir | cmp - %t.warpgroup.mlir
// RUN: FileCheck %s --check-prefix=WARPGROUP --input-file=%t.warpgroup.mlir \
// RUN:   --implicit-check-not="{{mla\.|tensor|linalg|bufferization}}"
// WARPGROUP: scf.forall
// WARPGROUP: wg.load %{{.*}} -> <128x192xbf16>
// Guarded keys first, then open ones: only the former are compared with positions.
// WARPGROUP: scf.for {{.*}} -> (!wg.fragment<128x128xf32, accumulator>, !wg.fragment<128xf32, row>, !wg.fragment<128xf32, row>)
// WARPGROUP: wg.load_pages
// WARPGROUP: wg.mma %{{.*}} by %{{.*}} transposed : !wg.tile<128x128xbf16> by !wg.tile<128x128xbf16>
// WARPGROUP: wg.mma %{{.*}} by %{{.*}} transposed accumulate %{{.*}} !wg.tile<128x64xbf16> by !wg.tile<128x64xbf16>
// WARPGROUP: arith.cmpi sle
// WARPGROUP: wg.mma %{{.*}} by %{{.*}} accumulate %{{.*}} !wg.fragment<128x128xbf16, operand_a> by !wg.tile<128x128xbf16>
// WARPGROUP: scf.for
// WARPGROUP-NOT: arith.cmpi sle
// WARPGROUP: wg.store %{{.*}} count %{{.*}} : <128x128xbf16, accumulator>

// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=kernel" > %t.kernel.mlir
// RUN: mla-opt %t.kernel.mlir | cmp - %t.kernel.mlir
// RUN: FileCheck %s --check-prefix=KERNEL --input-file=%t.kernel.mlir \
// RUN:   --implicit-check-not="{{mla\.|tensor|linalg|scf\.forall}}"
// KERNEL: func.func @prefill(
// KERNEL: gpu.launch_func @prefill_kernels::@prefill_kernel blocks in
// KERNEL: gpu.module @prefill_kernels
// KERNEL: llvm.func @prefill_kernel(
// KERNEL-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
// KERNEL: wg.mma

// A kernel is LLVM and NVVM alone. Both products for scores and the one with values
// are there for guarded and for open keys, and shared memory for 48 KiB of queries, 32
// of keys, 16 of their rope part and 32 of values.
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=nvvm" > %t.nvvm.mlir
// RUN: mla-opt %t.nvvm.mlir | cmp - %t.nvvm.mlir
// RUN: FileCheck %s --check-prefix=NVVM --input-file=%t.nvvm.mlir --implicit-check-not="{{wg\.}}"
// NVVM: gpu.module @prefill_kernels
// NVVM: llvm.mlir.global external @mla_shared()
// NVVM: llvm.func @prefill_kernel(
// NVVM-SAME: mla.shared_bytes = 131072 : i64
// NVVM-NOT: {{(func|memref|arith|scf|cf|affine|math|vector|builtin)\.[a-z_]+[ (]}}
// NVVM: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// NVVM: wgmma.wait_group.sync.aligned 0
// NVVM-NOT: {{(func|memref|arith|scf|cf|affine|math|vector|builtin)\.[a-z_]+[ (]}}
// NVVM: llvm.nvvm.ex2.approx.ftz.f
// RUN: grep -c 'wgmma.mma_async' %t.nvvm.mlir | FileCheck %s --check-prefix=PRODUCTS
// PRODUCTS: {{^6$}}

func.func @prefill(%q: tensor<?x16x192xbf16>, %iro: tensor<?xi32>,
    %k: tensor<?x16x128xbf16>, %v: tensor<?x16x128xbf16>, %bro: tensor<?xi32>,
    %cache: tensor<?x1x?x64x1x576xbf16>, %table: tensor<?x?xi32>,
    %lengths: tensor<?xi32>, %layer: i32, %scale: f32, %out: tensor<?x16x128xbf16>)
    -> tensor<?x16x128xbf16> {
  %o = mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out)
      : (tensor<?x16x192xbf16>, tensor<?xi32>, tensor<?x16x128xbf16>,
         tensor<?x16x128xbf16>, tensor<?xi32>, tensor<?x1x?x64x1x576xbf16>,
         tensor<?x?xi32>, tensor<?xi32>, i32, f32, tensor<?x16x128xbf16>)
      -> tensor<?x16x128xbf16>
  return %o : tensor<?x16x128xbf16>
}
