// A loop of two products with a softmax in between, in plain linalg with no op of ours,
// is parted and pipelined as mla.prefill's is: nothing on the way knows that op. A soft
// cap that somebody wrote comes along.

// RUN: sed '/[/][/] CAP /d' %S/../Conversion/TileToWarpgroup/two-matmuls.mlir > %t.plain.mlir
// RUN: sed -e 's|// CAP ||' -e '/[/][/] PLAIN$/d' %S/../Conversion/TileToWarpgroup/two-matmuls.mlir > %t.cap.mlir

// RUN: mla-opt %t.plain.mlir --mla-lower="target=sm_90a stop-after=specialized" \
// RUN:   | FileCheck %s --check-prefix=SPECIALIZED
// Arguments without a name are called by their number.
// SPECIALIZED: wg.tensor_map %{{.*}} operand "argument 0" {{.*}} -> <64x1x64xbf16>
// SPECIALIZED: wg.tensor_map %{{.*}} operand "argument 1" {{.*}} -> <128x1x64xbf16>
// SPECIALIZED: wg.tensor_map %{{.*}} operand "argument 2" {{.*}} -> <128x1x64xbf16>
// SPECIALIZED-NOT: wg.order
// SPECIALIZED: wg.roles warpgroups 1 producer registers 72 {
// SPECIALIZED: wg.copy_box
// SPECIALIZED: } consumer
// SPECIALIZED-NOT: wg.copy_box
// SPECIALIZED: wg.mma
// SPECIALIZED-NEXT: wg.wait
// SPECIALIZED: wg.store

// RUN: mla-opt %t.plain.mlir --mla-lower="target=sm_90a stop-after=pipelined" \
// RUN:   | FileCheck %s --check-prefix=PIPELINED
// PIPELINED: } consumer
// PIPELINED: scf.for
// PIPELINED: %[[S:.*]] = wg.mma %{{.*}} by %{{.*}} transposed : !wg.tile<64x64xbf16> by !wg.tile<128x64xbf16>
// PIPELINED: %[[O:.*]] = wg.mma %{{.*}} by %{{.*}} accumulate {{.*}} !wg.fragment<64x128xbf16, operand_a> by !wg.tile<128x64xbf16>
// PIPELINED: wg.wait %[[S]]
// PIPELINED: wg.reduce
// PIPELINED: wg.wait %[[O]]
// PIPELINED: scf.yield

// RUN: mla-opt %t.cap.mlir --mla-lower="target=sm_90a stop-after=nvvm" | sed -n '/gpu.module/,$p' \
// RUN:   | FileCheck %s --implicit-check-not="wg."
// CHECK: gpu.module @attention_kernels
// CHECK: llvm.func @attention_kernel
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// The cap, and the softmax.
// CHECK: llvm.nvvm.ex2.approx.ftz.f
// CHECK: llvm.fdiv
// CHECK: llvm.nvvm.ex2.approx.ftz.f
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
