// The distribution's mlir-opt, which has never heard of this product, parses the
// dialect and runs the pipeline once libMLACompiler is loaded as a plugin.

// A library built with a sanitizer needs a program built with it.
// UNSUPPORTED: sanitizer

// RUN: mlir-opt %s --load-dialect-plugin=%mla_lib_dir/libMLACompiler%shlibext | FileCheck %s
// RUN: mlir-opt %s --load-dialect-plugin=%mla_lib_dir/libMLACompiler%shlibext \
// RUN:   --load-pass-plugin=%mla_lib_dir/libMLACompiler%shlibext \
// RUN:   --pass-pipeline='builtin.module(mla-lower{target=cpu-generic stop-after=tile})' \
// RUN:   | FileCheck %s --check-prefix=TILE

// Without it, the same file is refused.
// RUN: not mlir-opt %s 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK-LABEL: func.func @prefill
// CHECK: mla.prefill #mla.causal
// TILE-LABEL: func.func @prefill
// TILE-NOT: mla.prefill
// TILE: scf.forall
// NONE: error: {{.*}}Dialect `mla' not found
func.func @prefill(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>,
    %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>,
    %blocks: tensor<?x1x?x16x1x40xf32>, %table: tensor<?x?xi32>,
    %lengths: tensor<?xi32>, %layer: i32, %scale: f32,
    %output: tensor<?x2x16xf32>) -> tensor<?x2x16xf32> {
  %o = mla.prefill #mla.causal
      queries(%q, %iro) keys(%k, %v, %bro)
      pages(%blocks, %table, %lengths, %layer)
      scale(%scale) outs(%output)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>,
         tensor<?x2x16xf32>, tensor<?xi32>, tensor<?x1x?x16x1x40xf32>,
         tensor<?x?xi32>, tensor<?xi32>, i32, f32, tensor<?x2x16xf32>)
      -> tensor<?x2x16xf32>
  return %o : tensor<?x2x16xf32>
}
