// The memref form, through all of the pipeline.

// REQUIRES: numpy

// RUN: mla-opt %s -o %t.mlir
// RUN: %numpy_python %S/Inputs/prefill.py mla-run %t.mlir --mask null \
// RUN:   --arguments q,input_row_offsets,k,v,buffer_row_offsets,k_rope,cache_lengths,scale,output,lse

func.func @prefill(%q: memref<?x2x24xf32>, %iro: memref<?xi32>, %k: memref<?x2x16xf32>,
    %v: memref<?x2x16xf32>, %bro: memref<?xi32>, %rope: memref<?x8xf32>,
    %lengths: memref<?xi32>, %scale: f32, %out: memref<?x2x16xf32>,
    %lse: memref<?x2xf32>) {
  mla.prefill #mla.null queries(%q, %iro) keys(%k, %v, %bro) rope(%rope, %lengths)
      scale(%scale) outs(%out, %lse)
      : (memref<?x2x24xf32>, memref<?xi32>, memref<?x2x16xf32>, memref<?x2x16xf32>,
         memref<?xi32>, memref<?x8xf32>, memref<?xi32>, f32, memref<?x2x16xf32>,
         memref<?x2xf32>) -> ()
  return
}
