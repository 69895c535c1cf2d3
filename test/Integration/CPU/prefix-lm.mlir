// A mask from a plugin, with a parameter for each sequence, runs like the others:
// the plugin's library is needed up to level 1 and not after it. Both forms of
// the mask, predicate alone and with key ranges, give what the oracle gives for
// key <= query or key < prefix.

// REQUIRES: numpy

// RUN: mla-opt %s --load-dialect-plugin=%mla_lib_dir/libMLATestPlugin%shlibext \
// RUN:   --mla-lower="stop-after=tile" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not=test_mla
// CHECK: func.func @prefix_lm
// RUN: %numpy_python %S/Inputs/prefill.py mla-run %t.mlir --mask prefix_lm \
// RUN:   --cache-offsets \
// RUN:   --arguments prefix,q,input_row_offsets,k,v,buffer_row_offsets,cache_offsets,k_rope,cache_lengths,scale,output,lse

// RUN: sed 's/#test_mla.prefix_lm/#test_mla.prefix_lm_ranges/' %s > %t.ranges.mlir
// RUN: mla-opt %t.ranges.mlir --load-dialect-plugin=%mla_lib_dir/libMLATestPlugin%shlibext \
// RUN:   --mla-lower="stop-after=tile" -o %t.mlir
// RUN: %numpy_python %S/Inputs/prefill.py mla-run %t.mlir --mask prefix_lm \
// RUN:   --cache-offsets \
// RUN:   --arguments prefix,q,input_row_offsets,k,v,buffer_row_offsets,cache_offsets,k_rope,cache_lengths,scale,output,lse

// Causal is not what they compute.
// RUN: not %numpy_python %S/Inputs/prefill.py mla-run %t.mlir --mask causal \
// RUN:   --cache-offsets \
// RUN:   --arguments prefix,q,input_row_offsets,k,v,buffer_row_offsets,cache_offsets,k_rope,cache_lengths,scale,output,lse \
// RUN:   | FileCheck %s --check-prefix=CAUSAL
// CAUSAL: mismatch

func.func @prefix_lm(%prefix: tensor<?xi32>, %q: tensor<?x2x24xf32>,
    %iro: tensor<?xi32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>,
    %bro: tensor<?xi32>, %co: tensor<?xi32>, %rope: tensor<?x8xf32>,
    %lengths: tensor<?xi32>, %scale: f32, %out: tensor<?x2x16xf32>,
    %lse: tensor<?x2xf32>) -> (tensor<?x2x16xf32>, tensor<?x2xf32>) {
  %o:2 = mla.prefill #test_mla.prefix_lm parameters(%prefix)
      queries(%q, %iro) keys(%k, %v, %bro, %co) rope(%rope, %lengths)
      scale(%scale) outs(%out, %lse)
      {schedule = #mla.schedule<query_tile = 64, key_tile = 32, guarded_key_tile = 8,
         order = ascending, probability = f32>}
      : (tensor<?xi32>, tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>,
         tensor<?x2x16xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x8xf32>,
         tensor<?xi32>, f32, tensor<?x2x16xf32>, tensor<?x2xf32>)
      -> (tensor<?x2x16xf32>, tensor<?x2xf32>)
  return %o#0, %o#1 : tensor<?x2x16xf32>, tensor<?x2xf32>
}
