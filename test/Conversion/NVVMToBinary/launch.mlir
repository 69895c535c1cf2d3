// A launch calls the runtime: tensor maps with their operands' names, then the kernel,
// loaded once, with what it needs, then the launch itself.

// RUN: mla-opt %s -mla-lower-launch | FileCheck %s

!m = memref<?x16x128xbf16, strided<[?, ?, 1], offset: ?>>
!pages = memref<?x?x64x576xf16, strided<[?, ?, ?, 1], offset: ?>>

// CHECK-NOT: gpu.
// CHECK-DAG: llvm.mlir.global internal constant @mla_operand_k("k\00")
// CHECK-DAG: llvm.mlir.global internal constant @mla_operand_kv_blocks("kv_blocks\00")
// CHECK-DAG: llvm.mlir.global internal constant @kernels_code(".version 8.6\00")
// CHECK-DAG: llvm.mlir.global internal constant @kernels_arch("sm_90a\00")
// CHECK-DAG: llvm.mlir.global internal constant @kernels_kernel_name("kernel\00")
// CHECK-DAG: llvm.mlir.global internal @kernels_kernel_cell() {{.*}} : !llvm.ptr {
// CHECK: func.func @launch(%[[K:.*]]: memref<?x16x128xbf16, {{.*}}>, %[[PAGES:.*]]: memref<?x?x64x576xf16, {{.*}}>, %[[P:.*]]: !llvm.ptr, %[[N:.*]]: index)

// The map: address, dtype, rank, shape and strides in elements, box, swizzle and how much
// of memory goes to the second-level cache at once; rows of 256 bytes are read whole.
// CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %[[SIZES:.*]]:3, %[[STRIDES:.*]]:3 = memref.extract_strided_metadata %[[K]]
// CHECK: %[[START:.*]] = memref.extract_aligned_pointer_as_index %[[K]]
// CHECK: %[[SKIP:.*]] = arith.index_cast %[[OFFSET]] : index to i64
// CHECK: %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
// CHECK: %[[BYTES:.*]] = arith.muli %[[SKIP]], %[[TWO]]
// CHECK: %[[FROM:.*]] = arith.index_cast %[[START]] : index to i64
// CHECK: %[[ADDRESS:.*]] = arith.addi %[[FROM]], %[[BYTES]]
// CHECK: llvm.mlir.constant(128 : i32)
// CHECK: llvm.mlir.constant(1 : i32)
// CHECK: llvm.mlir.constant(64 : i32)
// CHECK: %[[SIZE:.*]] = llvm.mlir.constant(72 : i64)
// CHECK: %[[NAME:.*]] = llvm.mlir.addressof @mla_operand_k
// CHECK: %[[DATA:.*]] = llvm.inttoptr %[[ADDRESS]]
// CHECK: %[[BF16:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: %[[RANK:.*]] = llvm.mlir.constant(3 : i32)
// CHECK: %[[S0:.*]] = arith.index_cast %[[SIZES]]#0
// CHECK: %[[SWIZZLE:.*]] = llvm.mlir.constant(128 : i32)
// CHECK: %[[PROMOTION:.*]] = llvm.mlir.constant(256 : i32)
// CHECK: %[[R1:.*]] = llvm.insertvalue %[[SIZE]], %{{.*}}[0] : !llvm.struct<(i64, ptr, ptr, i32, i32, ptr, ptr, ptr, i32, i32, ptr)>
// CHECK: %[[R2:.*]] = llvm.insertvalue %[[NAME]], %[[R1]][1]
// CHECK: %[[R3:.*]] = llvm.insertvalue %[[DATA]], %[[R2]][2]
// CHECK: %[[R4:.*]] = llvm.insertvalue %[[BF16]], %[[R3]][3]
// CHECK: %[[R5:.*]] = llvm.insertvalue %[[RANK]], %[[R4]][4]
// CHECK: %[[R6:.*]] = llvm.insertvalue %{{.*}}, %[[R5]][5]
// CHECK: %[[R7:.*]] = llvm.insertvalue %{{.*}}, %[[R6]][6]
// CHECK: %[[R8:.*]] = llvm.insertvalue %{{.*}}, %[[R7]][7]
// CHECK: %[[R9:.*]] = llvm.insertvalue %[[SWIZZLE]], %[[R8]][8]
// CHECK: %[[R10:.*]] = llvm.insertvalue %[[PROMOTION]], %[[R9]][9]
// CHECK: %[[R11:.*]] = llvm.insertvalue %{{.*}}, %[[R10]][10]
// CHECK: llvm.store %[[R11]], %[[SPEC:.*]] :
// CHECK: llvm.call @mlaRuntimeEncodeTensorMap(%[[SPEC]], %[[K_MAP:.*]], %{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32

// Rows of 1152 bytes are not.
// CHECK: llvm.mlir.addressof @mla_operand_kv_blocks
// CHECK: llvm.mlir.constant(1 : i32)
// CHECK: llvm.mlir.constant(4 : i32)
// CHECK: llvm.mlir.constant(128 : i32)
// CHECK: llvm.mlir.constant(128 : i32)
// CHECK: llvm.call @mlaRuntimeEncodeTensorMap(%{{.*}}, %[[PAGES_MAP:.*]], %{{.*}})

// Shared memory, the counters' bytes, how many parameters.
// CHECK: %[[OPTIONS_SIZE:.*]] = llvm.mlir.constant(40 : i64)
// CHECK: %[[SHARED:.*]] = llvm.mlir.constant(230656 : i64)
// CHECK: %[[SLOT:.*]] = llvm.mlir.constant(8 : i64)
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(3 : i64)
// CHECK: %[[O1:.*]] = llvm.insertvalue %[[OPTIONS_SIZE]], %{{.*}}[0] : !llvm.struct<(i64, ptr, i64, i64, i64)>
// CHECK: %[[O2:.*]] = llvm.insertvalue %{{.*}}, %[[O1]][1]
// CHECK: %[[O3:.*]] = llvm.insertvalue %[[SHARED]], %[[O2]][2]
// CHECK: %[[O4:.*]] = llvm.insertvalue %[[SLOT]], %[[O3]][3]
// CHECK: %[[O5:.*]] = llvm.insertvalue %[[COUNT]], %[[O4]][4]
// CHECK: llvm.store %[[O5]], %[[OPTIONS:.*]] :
// CHECK: %[[CELL:.*]] = llvm.mlir.addressof @kernels_kernel_cell
// CHECK: %[[CODE:.*]] = llvm.mlir.addressof @kernels_code
// CHECK: %[[CODE_SIZE:.*]] = llvm.mlir.constant(12 : i64)
// CHECK: %[[KERNEL:.*]] = llvm.call @mlaRuntimeLoadKernelOnce(%[[CELL]], %[[CODE]], %[[CODE_SIZE]], %{{.*}}, %[[OPTIONS]], %{{.*}})

// As many blocks as fit, if it is to stay resident: flag 2.
// CHECK: %[[FLAGS:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: llvm.insertvalue %[[FLAGS]], %{{.*}}[4] : !llvm.struct<(i64, ptr, array<3 x i32>, array<3 x i32>, i32, i32)>
// CHECK: llvm.insertvalue %[[P]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, ptr)>
// CHECK: llvm.insertvalue %[[K_MAP]], %{{.*}}[1]
// CHECK: llvm.insertvalue %[[PAGES_MAP]], %{{.*}}[2]
// CHECK: llvm.call @mlaRuntimeLaunch(%[[KERNEL]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NOT: wg.
module attributes {gpu.container_module} {
  func.func @launch(%k: !m, %pages: !pages, %p: !llvm.ptr, %n: index) {
    %c1 = arith.constant 1 : index
    %c384 = arith.constant 384 : index
    %0 = wg.tensor_map %k operand "k" : !m -> !wg.tensor_map<128x1x64xbf16>
    %1 = wg.tensor_map %pages operand "kv_blocks" : !pages -> !wg.tensor_map<1x1x64x64xf16>
    %2 = builtin.unrealized_conversion_cast %0 : !wg.tensor_map<128x1x64xbf16> to !llvm.ptr
    %3 = builtin.unrealized_conversion_cast %1 : !wg.tensor_map<1x1x64x64xf16> to !llvm.ptr
    gpu.launch_func @kernels::@kernel blocks in (%n, %c1, %c1) threads in (%c384, %c1, %c1)
        args(%p : !llvm.ptr, %2 : !llvm.ptr, %3 : !llvm.ptr) {wg.resident}
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a", features = "+ptx86">,
    properties = {kernel = {mla.shared_bytes = 230656 : i64, mla.slot_bytes = 8 : i64}},
    assembly = ".version 8.6">]
}
