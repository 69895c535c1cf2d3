// Every mask reaches the GPU's instructions, and so does a log-sum-exp.

// RUN: sed 's/MASK/#mla.null/' %s > %t.null.mlir
// RUN: sed 's/MASK/#mla.causal/' %s > %t.causal.mlir
// The others take a window.
// RUN: sed -e 's/MASK/#mla.sliding_window_causal parameters(%%window)/' -e 's/: (!q/: (i32, !q/' %s > %t.sliding_causal.mlir
// RUN: sed -e 's/MASK/#mla.sliding_window_noncausal parameters(%%window)/' -e 's/: (!q/: (i32, !q/' %s > %t.sliding_noncausal.mlir
// RUN: sed -e 's/MASK/#mla.chunked parameters(%%window)/' -e 's/: (!q/: (i32, !q/' %s > %t.chunked.mlir
// RUN: sed -e 's/MASK/#mla.chunked_causal parameters(%%window)/' -e 's/: (!q/: (i32, !q/' %s > %t.chunked_causal.mlir

// DEFINE: %{mask} =
// DEFINE: %{prefixes} = HOST
// DEFINE: %{lower} = mla-opt %t.%{mask}.mlir --mla-lower="target=sm_90a stop-after=nvvm" -o %t.%{mask}.nvvm
// DEFINE: %{host} = FileCheck %s --input-file=%t.%{mask}.nvvm --check-prefixes=%{prefixes}
// DEFINE: %{kernel} = sed -n '/gpu.module/,$p' %t.%{mask}.nvvm | FileCheck %s --implicit-check-not="wg."

// REDEFINE: %{mask} = null
// RUN: %{lower} && %{host}
// RUN: %{kernel}
// REDEFINE: %{mask} = causal
// RUN: %{lower} && %{host}
// RUN: %{kernel}
// REDEFINE: %{prefixes} = HOST,WINDOW
// REDEFINE: %{mask} = sliding_causal
// RUN: %{lower} && %{host}
// RUN: %{kernel}
// REDEFINE: %{mask} = sliding_noncausal
// RUN: %{lower} && %{host}
// RUN: %{kernel}
// REDEFINE: %{mask} = chunked
// RUN: %{lower} && %{host}
// RUN: %{kernel}
// REDEFINE: %{mask} = chunked_causal
// RUN: %{lower} && %{host}
// RUN: %{kernel}

!q = tensor<?x16x192xf16>
!kv = tensor<?x16x128xf16>
!pages = tensor<?x1x?x64x1x576xf16>

// Pages, window and rows are read on the device; only shapes come from the host.
// HOST: func.func @prefill
// WINDOW-SAME: (%[[W:.*]]: i32, %{{.*}}: memref<?x16x192xf16
// HOST-NOT: memref.load
// HOST: gpu.launch_func @prefill_kernels::@prefill_kernel
// CHECK: llvm.func @prefill_kernel
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// CHECK: llvm.nvvm.lg2.approx.f
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
func.func @prefill(%window: i32, %q: !q, %iro: tensor<?xui32>, %k: !kv, %v: !kv,
    %bro: tensor<?xui32>, %offsets: tensor<?xui32>, %cache: !pages, %table: tensor<?x?xui32>,
    %lengths: tensor<?xui32>, %layer: ui32, %scale: f32, %out: !kv, %lse: tensor<?x16xf32>)
    -> (!kv, tensor<?x16xf32>) {
  %o:2 = mla.prefill MASK queries(%q, %iro) keys(%k, %v, %bro, %offsets)
      pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%out, %lse)
      : (!q, tensor<?xui32>, !kv, !kv, tensor<?xui32>, tensor<?xui32>, !pages,
         tensor<?x?xui32>, tensor<?xui32>, ui32, f32, !kv, tensor<?x16xf32>)
      -> (!kv, tensor<?x16xf32>)
  return %o#0, %o#1 : !kv, tensor<?x16xf32>
}
