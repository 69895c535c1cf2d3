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

// Every tile has a home; the loop says how its items are to be shared. Operands keep
// their names.
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=warpgroup" > %t.warpgroup.mlir
// RUN: mla-opt %t.warpgroup.mlir | cmp - %t.warpgroup.mlir
// RUN: FileCheck %s --check-prefix=WARPGROUP --input-file=%t.warpgroup.mlir \
// RUN:   --implicit-check-not="{{mla\.(locate|gather_pages|prefill)|tensor|linalg|bufferization}}"
// WARPGROUP: scf.forall
// WARPGROUP: wg.locate
// WARPGROUP: wg.load %{{.*}} {mla.operand = "q"} : {{.*}} -> <128x192xbf16>
// Guarded keys first, then open ones: only the former are compared with positions.
// WARPGROUP: scf.for {{.*}} -> (!wg.fragment<128x128xf32, accumulator>, !wg.fragment<128xf32, row>, !wg.fragment<128xf32, row>)
// WARPGROUP: wg.load %{{.*}} {mla.operand = "k"} : {{.*}} -> <128x128xbf16>
// WARPGROUP: wg.load_pages {{.*}} {mla.operand = "kv_blocks"} : {{.*}} -> <128x64xbf16>
// WARPGROUP: wg.load %{{.*}} {mla.operand = "v"} : {{.*}} -> <128x128xbf16>
// WARPGROUP: wg.mma %{{.*}}, %{{.*}} by %{{.*}}, %{{.*}} transposed : !wg.tile<128x128xbf16>, !wg.tile<128x64xbf16> by !wg.tile<128x128xbf16>, !wg.tile<128x64xbf16>
// WARPGROUP: arith.cmpi sle
// WARPGROUP: wg.mma %{{.*}} by %{{.*}} accumulate %{{.*}} !wg.fragment<128x128xbf16, operand_a> by !wg.tile<128x128xbf16>
// WARPGROUP: scf.for
// WARPGROUP-NOT: arith.cmpi sle
// WARPGROUP: wg.store %{{.*}} count %{{.*}} : <128x128xbf16, accumulator>
// WARPGROUP: mla.role_schedule = #mla.role_schedule<slots = 2, producer_registers = {{[0-9]+}}, consumer_registers = {{[0-9]+}}>

// A producer copies; consumers compute. Tensor maps are made on the host.
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=specialized" > %t.specialized.mlir
// RUN: mla-opt %t.specialized.mlir | cmp - %t.specialized.mlir
// RUN: FileCheck %s --check-prefix=SPECIALIZED --input-file=%t.specialized.mlir \
// RUN:   --implicit-check-not="{{mla\.|wg\.load|wg\.locate}}"
// SPECIALIZED-COUNT-4: wg.tensor_map
// SPECIALIZED: scf.forall (%{{.*}}) in
// SPECIALIZED-DAG: wg.ring consumers 2 : <1 x !wg.tile<128x192xbf16>>
// SPECIALIZED-DAG: wg.ring consumers 2 : <2 x !wg.tile<128x128xbf16>, !wg.tile<128x64xbf16>>
// SPECIALIZED-DAG: wg.ring consumers 2 : <2 x !wg.tile<128x128xbf16>>
// SPECIALIZED-DAG: wg.order
// SPECIALIZED: wg.roles warpgroups 2 producer registers {{[0-9]+}} {
// SPECIALIZED-NOT: {{wg\.(mma|map)}}
// SPECIALIZED: } consumer registers {{[0-9]+}} {
// SPECIALIZED-NOT: {{wg\.copy|memref\.load}}
// SPECIALIZED: scf.for
// SPECIALIZED: wg.mma
// SPECIALIZED-NEXT: wg.wait
// SPECIALIZED: scf.for
// SPECIALIZED: wg.store
// SPECIALIZED: {wg.resident}

// In the loops the product with the values of one tile is behind that with the keys of
// the next.
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=pipelined" > %t.pipelined.mlir
// RUN: mla-opt %t.pipelined.mlir | cmp - %t.pipelined.mlir
// RUN: FileCheck %s --check-prefix=PIPELINED --input-file=%t.pipelined.mlir
// PIPELINED: consumer registers
// PIPELINED-COUNT-2: scf.if
// PIPELINED: scf.for
// PIPELINED: %[[S:.*]] = wg.mma %{{.*}}, %{{.*}} by %{{.*}}, %{{.*}} transposed
// PIPELINED: %[[O:.*]] = wg.mma %{{.*}} by %{{.*}} accumulate
// PIPELINED: wg.wait %[[S]]
// PIPELINED: wg.wait %[[O]]
// PIPELINED: scf.for
// PIPELINED: %[[S:.*]] = wg.mma %{{.*}}, %{{.*}} by %{{.*}}, %{{.*}} transposed
// PIPELINED: %[[O:.*]] = wg.mma %{{.*}} by %{{.*}} accumulate
// PIPELINED: wg.wait %[[S]]
// PIPELINED: wg.wait %[[O]]

// A warpgroup that copies and two that compute; a parameter of each tensor map, and one
// for the counters.
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=kernel" > %t.kernel.mlir
// RUN: mla-opt %t.kernel.mlir | cmp - %t.kernel.mlir
// RUN: FileCheck %s --check-prefix=KERNEL --input-file=%t.kernel.mlir \
// RUN:   --implicit-check-not="{{mla\.[^s]|linalg|scf\.forall}}"
// KERNEL: func.func @prefill(
// KERNEL: gpu.launch_func @prefill_kernels::@prefill_kernel blocks in {{.*}} {wg.resident}
// KERNEL: gpu.module @prefill_kernels
// KERNEL: llvm.func @prefill_kernel(
// KERNEL-COUNT-4: llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// KERNEL-SAME: %{{[a-z0-9]+}}: !llvm.ptr)
// KERNEL-SAME: mla.slot_bytes = 8 : i64
// KERNEL-SAME: nvvm.reqntid = array<i32: 384, 1, 1>
// KERNEL: wg.roles
// KERNEL: wg.mma

// Rings are barriers and copies now. Shared memory holds 48 KiB of queries, twice 48 of
// keys, twice 32 of values, the records, the barriers and the order.
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=rings" > %t.rings.mlir
// RUN: mla-opt %t.rings.mlir | cmp - %t.rings.mlir
// RUN: FileCheck %s --check-prefix=RINGS --input-file=%t.rings.mlir \
// RUN:   --implicit-check-not="{{wg\.(ring|acquire|commit|put|take|release|clear_rows|copy|order|item|claim|retire)}}"
// RINGS: llvm.func @prefill_kernel(
// RINGS-SAME: mla.shared_bytes = 230656 : i64
// RINGS: nvvm.mbarrier.init
// RINGS: wg.roles warpgroups 2 producer registers {{[0-9]+}} {
// RINGS: nvvm.cp.async.bulk.tensor.shared.cluster.global
// RINGS: } consumer registers {{[0-9]+}} {
// RINGS: wg.tile_at
// RINGS: wg.mma

// A kernel is LLVM and NVVM alone: of the first tile the product for the scores, in
// either loop that and the one with the values, and the last one with the values.
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=nvvm" > %t.nvvm.mlir
// RUN: mla-opt %t.nvvm.mlir | cmp - %t.nvvm.mlir
// RUN: sed -n '/gpu.module/,$p' %t.nvvm.mlir | FileCheck %s --check-prefix=NVVM \
// RUN:   --implicit-check-not="{{(wg|func|memref|arith|scf|cf|affine|math|vector|builtin|ub)\.[a-z_]+[ (]}}"
// NVVM: gpu.module @prefill_kernels
// NVVM: llvm.mlir.global external @mla_shared()
// NVVM: llvm.func @prefill_kernel(
// NVVM-SAME: mla.shared_bytes = 230656 : i64
// NVVM: nvvm.setmaxregister decrease
// NVVM: nvvm.setmaxregister increase
// NVVM: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// NVVM: wgmma.wait_group.sync.aligned 0
// NVVM: llvm.nvvm.ex2.approx.ftz.f
// RUN: grep -c 'wgmma.mma_async' %t.nvvm.mlir | FileCheck %s --check-prefix=COUNT
// COUNT: {{^7$}}
// RUN: grep -oE 'wgmma.(mma_async|wait_group).sync.aligned( [01])?' %t.nvvm.mlir | uniq \
// RUN:   | FileCheck %s --check-prefix=PRODUCTS
// The first tile is that of a guarded or of an open loop.
// PRODUCTS: wgmma.mma_async
// PRODUCTS-NEXT: wgmma.wait_group.sync.aligned 0
// PRODUCTS-NEXT: wgmma.mma_async
// PRODUCTS-NEXT: wgmma.wait_group.sync.aligned 0
// PRODUCTS-NEXT: wgmma.mma_async
// PRODUCTS-NEXT: wgmma.wait_group.sync.aligned 1
// PRODUCTS-NEXT: wgmma.wait_group.sync.aligned 0
// PRODUCTS-NEXT: wgmma.mma_async
// PRODUCTS-NEXT: wgmma.wait_group.sync.aligned 1
// PRODUCTS-NEXT: wgmma.wait_group.sync.aligned 0
// PRODUCTS-NEXT: wgmma.mma_async
// PRODUCTS-NEXT: wgmma.wait_group.sync.aligned 0
// PRODUCTS-NOT: wgmma

// The code, and what a launch has to know of it.
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=binary" > %t.binary.mlir
// RUN: mla-opt %t.binary.mlir | cmp - %t.binary.mlir
// RUN: FileCheck %s --check-prefix=BINARY --input-file=%t.binary.mlir --implicit-check-not=gpu.module
// BINARY: gpu.launch_func
// BINARY: gpu.binary @prefill_kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">, properties = {prefill_kernel = {mla.shared_bytes = 230656 : i64, mla.slot_bytes = 8 : i64}}

// The host's side calls the runtime.
// RUN: mla-opt %s --mla-lower="target=sm_90a stop-after=llvm" > %t.llvm.mlir
// RUN: mla-opt %t.llvm.mlir | cmp - %t.llvm.mlir
// RUN: FileCheck %s --check-prefix=LLVM --input-file=%t.llvm.mlir \
// RUN:   --implicit-check-not="{{(wg|gpu|func|memref|arith|scf|cf|affine|builtin)\.[a-z_]+[ (]}}"
// LLVM: llvm.func @prefill(
// LLVM-COUNT-4: llvm.call @mlaRuntimeEncodeTensorMap
// LLVM: llvm.call @mlaRuntimeLoadKernelOnce
// LLVM: llvm.call @mlaRuntimeLaunch
// RUN: mla-opt %s --mla-lower="target=sm_90a" | cmp - %t.llvm.mlir

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
