// A mask from a library that the product knows nothing of, with one parameter
// per sequence: its predicate alone carries it through the lowering.

// RUN: mla-opt %s --load-dialect-plugin=%mla_lib_dir/libMLATestPlugin%shlibext | FileCheck %s
// RUN: mla-opt %s --load-dialect-plugin=%mla_lib_dir/libMLATestPlugin%shlibext \
// RUN:   --mla-lower='target=cpu-generic stop-after=tile' | FileCheck %s --check-prefix=TILE
// RUN: mla-opt %s --load-dialect-plugin=%mla_lib_dir/libMLATestPlugin%shlibext \
// RUN:   --mla-lower='target=cpu-generic' | FileCheck %s --check-prefix=LLVM

// CHECK-LABEL: func.func @prefix_lm
// CHECK: mla.prefill #test_mla.prefix_lm parameters(%{{.*}})

// The sequence's prefix length is picked before the loop over keys; the predicate
// meets every score.
// TILE-LABEL: func.func @prefix_lm
// TILE-SAME: %[[PREFIX:[a-z0-9_]+]]: tensor<?xi32>
// TILE: scf.forall
// TILE: tensor.extract %[[PREFIX]]
// TILE: scf.for
// TILE: arith.cmpi sle
// TILE: arith.cmpi slt
// TILE: arith.ori

// LLVM: llvm.func @prefix_lm
// LLVM-NOT: mla.prefill
func.func @prefix_lm(%prefix: tensor<?xi32>, %q: tensor<?x2x24xf32>,
    %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>,
    %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %output: tensor<?x2x16xf32>) -> tensor<?x2x16xf32> {
  %o = mla.prefill #test_mla.prefix_lm parameters(%prefix)
      queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%output)
      : (tensor<?xi32>, tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>,
         tensor<?x2x16xf32>, tensor<?xi32>, tensor<?x8xf32>, f32,
         tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return %o : tensor<?x2x16xf32>
}
