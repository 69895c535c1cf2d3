// Level 1 written by hand: a causal prefill of two heads in upstream ops and
// mla.locate and mla.gather_pages, with tiles of 64 queries and 32 keys. It says
// what mla-to-tile would say in its own way, and goes through the rest of the
// pipeline like anything else.

// REQUIRES: numpy

// RUN: mla-opt %s -inline -symbol-dce -canonicalize -o %t.mlir
// RUN: %numpy_python %S/Inputs/prefill.py mla-run %t.mlir --dtype bf16 \
// RUN:   --cache-offsets --tolerance 1e-2 \
// RUN:   --arguments q,k,v,buffer_row_offsets,cache_offsets,input_row_offsets,kv_blocks,lookup_table,cache_lengths,layer_idx,scale,output,lse
// It is made for lanes, not left in rows.
// RUN: mla-opt %t.mlir --mla-lower="target=cpu-avx512 stop-after=strips" 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not="stay in rows"
// CHECK: func.func @prefill
// CHECK: scf.forall

#row  = affine_map<(r) -> (r)>
#rows = affine_map<(r, c) -> (r)>
#tile = affine_map<(r, c) -> (r, c)>
#qk_q = affine_map<(m, n, k) -> (m, k)>
#qk_k = affine_map<(m, n, k) -> (n, k)>
#qk_s = affine_map<(m, n, k) -> (m, n)>

!acc = tensor<64x16xf32>
!col = tensor<64xf32>
!scores = tensor<64x32xf32>
!keys = tensor<32x16xbf16>
!vec = tensor<?xi32>
!kv = tensor<?x2x16xbf16>
!cache = tensor<?x1x?x16x1x40xf32>

// The scores of a tile of queries against a tile of keys.
func.func private @score(%qn: tensor<64x16xbf16>, %qr: tensor<64x8xbf16>, %kn: !keys,
    %kr: tensor<32x8xf32>) -> !scores {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%empty : !scores) -> !scores
  %s1 = linalg.matmul indexing_maps = [#qk_q, #qk_k, #qk_s]
      ins(%qn, %kn : tensor<64x16xbf16>, !keys) outs(%s0 : !scores) -> !scores
  %s2 = linalg.matmul indexing_maps = [#qk_q, #qk_k, #qk_s]
      ins(%qr, %kr : tensor<64x8xbf16>, tensor<32x8xf32>) outs(%s1 : !scores) -> !scores
  return %s2 : !scores
}

// One step of online softmax in base 2, c = scale * log2(e). A row that has seen no
// key subtracts 0, so that -inf - -inf never is.
func.func private @absorb(%s: !scores, %v: !keys, %c: f32, %acc: !acc, %m: !col,
    %l: !col) -> (!acc, !col, !col) {
  %zero = arith.constant 0.0 : f32
  %minus_inf = arith.constant 0xFF800000 : f32
  %e_scores = tensor.empty() : !scores
  %e_bf16 = tensor.empty() : tensor<64x32xbf16>
  %e_acc = tensor.empty() : !acc
  %e_col = tensor.empty() : !col
  %m1 = linalg.generic {indexing_maps = [#tile, #rows],
      iterator_types = ["parallel", "reduction"]} ins(%s : !scores) outs(%m : !col) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %o, %x : f32
    linalg.yield %y : f32
  } -> !col
  %ref = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%m1 : !col) outs(%e_col : !col) {
  ^bb0(%x: f32, %o: f32):
    %some = arith.cmpf one, %x, %minus_inf : f32
    %y = arith.select %some, %x, %zero : f32
    %z = arith.mulf %c, %y : f32
    linalg.yield %z : f32
  } -> !col
  // The factor of what was carried, and both factored.
  %corr = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
      ins(%m, %ref : !col, !col) outs(%e_col : !col) {
  ^bb0(%old: f32, %r: f32, %o: f32):
    %x = arith.mulf %c, %old : f32
    %d = arith.subf %x, %r : f32
    %y = math.exp2 %d : f32
    linalg.yield %y : f32
  } -> !col
  %l0 = linalg.mul ins(%l, %corr : !col, !col) outs(%e_col : !col) -> !col
  %acc0 = linalg.generic {indexing_maps = [#tile, #rows, #tile],
      iterator_types = ["parallel", "parallel"]}
      ins(%acc, %corr : !acc, !col) outs(%e_acc : !acc) {
  ^bb0(%x: f32, %f: f32, %o: f32):
    %y = arith.mulf %f, %x : f32
    linalg.yield %y : f32
  } -> !acc
  %p = linalg.generic {indexing_maps = [#tile, #rows, #tile],
      iterator_types = ["parallel", "parallel"]}
      ins(%s, %ref : !scores, !col) outs(%e_scores : !scores) {
  ^bb0(%x: f32, %r: f32, %o: f32):
    %y = arith.mulf %x, %c : f32
    %d = arith.subf %y, %r : f32
    %z = math.exp2 %d : f32
    linalg.yield %z : f32
  } -> !scores
  %l1 = linalg.generic {indexing_maps = [#tile, #rows],
      iterator_types = ["parallel", "reduction"]} ins(%p : !scores) outs(%l0 : !col) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> !col
  %p16 = linalg.generic {indexing_maps = [#tile, #tile],
      iterator_types = ["parallel", "parallel"]}
      ins(%p : !scores) outs(%e_bf16 : tensor<64x32xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %y = arith.truncf %x : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<64x32xbf16>
  %acc1 = linalg.matmul ins(%p16, %v : tensor<64x32xbf16>, !keys) outs(%acc0 : !acc) -> !acc
  return %acc1, %m1, %l1 : !acc, !col, !col
}

// Entry `i` as an index, and the distance to the next one.
func.func private @entry(%offsets: !vec, %i: index) -> index {
  %x = tensor.extract %offsets[%i] : !vec
  %y = arith.index_cast %x : i32 to index
  return %y : index
}

func.func @prefill(%q: tensor<?x2x24xbf16>, %k: !kv, %v: !kv, %bro: !vec, %co: !vec,
    %iro: !vec, %cache: !cache, %table: tensor<?x?xi32>, %lengths: !vec, %layer32: i32,
    %scale: f32, %out: !kv, %lse: tensor<?x2xf32>) -> (!kv, tensor<?x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %zero16 = arith.constant 0.0 : bf16
  %minus_inf = arith.constant 0xFF800000 : f32
  %log2e = arith.constant 1.44269504 : f32
  %c = arith.mulf %scale, %log2e : f32
  %layer = arith.index_cast %layer32 : i32 to index

  // At most one tile of each sequence is not full.
  %tokens = tensor.dim %q, %c0 : tensor<?x2x24xbf16>
  %entries = tensor.dim %iro, %c0 : !vec
  %sequences = arith.subi %entries, %c1 : index
  %full = arith.divui %tokens, %c64 : index
  %items = arith.addi %full, %sequences : index
  %r:2 = scf.forall (%item, %h) in (%items, 2)
      shared_outs(%o_all = %out, %l_all = %lse) -> (!kv, tensor<?x2xf32>) {
    %b, %first, %count = mla.locate %item in %iro tile 64 : !vec
    %b1 = arith.addi %b, %c1 : index
    %q_begin = func.call @entry(%iro, %b) : (!vec, index) -> index
    %q_end = func.call @entry(%iro, %b1) : (!vec, index) -> index
    %k_begin = func.call @entry(%bro, %b) : (!vec, index) -> index
    %k_end = func.call @entry(%bro, %b1) : (!vec, index) -> index
    %late = func.call @entry(%co, %b) : (!vec, index) -> index
    %cached = func.call @entry(%lengths, %b) : (!vec, index) -> index
    %n = arith.subi %q_end, %q_begin : index
    %buffered = arith.subi %k_end, %k_begin : index
    %context = arith.addi %cached, %n : index
    %reach = arith.subi %context, %late : index
    %reach0 = arith.maxsi %reach, %c0 : index
    %keys = arith.minsi %buffered, %reach0 : index
    %q_row = arith.addi %q_begin, %first : index
    %q_pos = arith.addi %cached, %first : index

    %q_rows = tensor.extract_slice %q[%q_row, %h, 0] [%count, 1, 24] [1, 1, 1]
        : tensor<?x2x24xbf16> to tensor<?x24xbf16>
    %q_missing = arith.subi %c64, %count : index
    %q_tile = tensor.pad %q_rows low[0, 0] high[%q_missing, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero16 : bf16
    } : tensor<?x24xbf16> to tensor<64x24xbf16>
    %qn = tensor.extract_slice %q_tile[0, 0] [64, 16] [1, 1]
        : tensor<64x24xbf16> to tensor<64x16xbf16>
    %qr = tensor.extract_slice %q_tile[0, 16] [64, 8] [1, 1]
        : tensor<64x24xbf16> to tensor<64x8xbf16>

    // Causal: keys up to the first query are open, keys up to the last one are
    // visited. Counted from the first key in the buffer.
    %first_key = arith.subi %q_pos, %late : index
    %after_first = arith.addi %first_key, %c1 : index
    %after_last = arith.addi %first_key, %count : index
    %open_high = arith.minsi %after_first, %keys : index
    %open_end = arith.maxsi %open_high, %c0 : index
    %open_tiles = arith.divui %open_end, %c32 : index
    %open = arith.muli %open_tiles, %c32 : index
    %end = arith.minsi %after_last, %keys : index

    %e_acc = tensor.empty() : !acc
    %e_col = tensor.empty() : !col
    %e_rope = tensor.empty() : tensor<32x8xf32>
    %e_scores = tensor.empty() : !scores
    %acc0 = linalg.fill ins(%zero : f32) outs(%e_acc : !acc) -> !acc
    %m0 = linalg.fill ins(%minus_inf : f32) outs(%e_col : !col) -> !col
    %l0 = linalg.fill ins(%zero : f32) outs(%e_col : !col) -> !col

    %whole:3 = scf.for %j = %c0 to %open step %c32
        iter_args(%acc = %acc0, %m = %m0, %l = %l0) -> (!acc, !col, !col) {
      %row = arith.addi %k_begin, %j : index
      %pos = arith.addi %late, %j : index
      %kn = tensor.extract_slice %k[%row, %h, 0] [32, 1, 16] [1, 1, 1] : !kv to !keys
      %vt = tensor.extract_slice %v[%row, %h, 0] [32, 1, 16] [1, 1, 1] : !kv to !keys
      %kr = mla.gather_pages %cache[layer %layer, column 32] through %table[%b]
          rows(%pos, %c32) outs(%e_rope)
          : !cache, tensor<?x?xi32>, tensor<32x8xf32> -> tensor<32x8xf32>
      %s = func.call @score(%qn, %qr, %kn, %kr)
          : (tensor<64x16xbf16>, tensor<64x8xbf16>, !keys, tensor<32x8xf32>) -> !scores
      %next:3 = func.call @absorb(%s, %vt, %c, %acc, %m, %l)
          : (!scores, !keys, f32, !acc, !col, !col) -> (!acc, !col, !col)
      scf.yield %next#0, %next#1, %next#2 : !acc, !col, !col
    }
    %all:3 = scf.for %j = %open to %end step %c32
        iter_args(%acc = %whole#0, %m = %whole#1, %l = %whole#2) -> (!acc, !col, !col) {
      %left = arith.subi %keys, %j : index
      %valid = arith.minsi %left, %c32 : index
      %missing = arith.subi %c32, %valid : index
      %row = arith.addi %k_begin, %j : index
      %pos = arith.addi %late, %j : index
      %k_rows = tensor.extract_slice %k[%row, %h, 0] [%valid, 1, 16] [1, 1, 1]
          : !kv to tensor<?x16xbf16>
      %kn = tensor.pad %k_rows low[0, 0] high[%missing, 0] {
      ^bb0(%i0: index, %i1: index):
        tensor.yield %zero16 : bf16
      } : tensor<?x16xbf16> to !keys
      %v_rows = tensor.extract_slice %v[%row, %h, 0] [%valid, 1, 16] [1, 1, 1]
          : !kv to tensor<?x16xbf16>
      %vt = tensor.pad %v_rows low[0, 0] high[%missing, 0] {
      ^bb0(%i0: index, %i1: index):
        tensor.yield %zero16 : bf16
      } : tensor<?x16xbf16> to !keys
      %kr = mla.gather_pages %cache[layer %layer, column 32] through %table[%b]
          rows(%pos, %valid) outs(%e_rope)
          : !cache, tensor<?x?xi32>, tensor<32x8xf32> -> tensor<32x8xf32>
      %raw = func.call @score(%qn, %qr, %kn, %kr)
          : (tensor<64x16xbf16>, tensor<64x8xbf16>, !keys, tensor<32x8xf32>) -> !scores
      %s = linalg.generic {indexing_maps = [#tile, #tile],
          iterator_types = ["parallel", "parallel"]}
          ins(%raw : !scores) outs(%e_scores : !scores) {
      ^bb0(%x: f32, %o: f32):
        %i = linalg.index 0 : index
        %jj = linalg.index 1 : index
        %query = arith.addi %first_key, %i : index
        %key = arith.addi %j, %jj : index
        %after = arith.cmpi sgt, %key, %query : index
        %outside = arith.cmpi sge, %jj, %valid : index
        %hidden = arith.ori %after, %outside : i1
        %y = arith.select %hidden, %minus_inf, %x : f32
        linalg.yield %y : f32
      } -> !scores
      %next:3 = func.call @absorb(%s, %vt, %c, %acc, %m, %l)
          : (!scores, !keys, f32, !acc, !col, !col) -> (!acc, !col, !col)
      scf.yield %next#0, %next#1, %next#2 : !acc, !col, !col
    }

    %e_out = tensor.empty() : tensor<64x16xbf16>
    %o_tile = linalg.generic {indexing_maps = [#tile, #rows, #tile],
        iterator_types = ["parallel", "parallel"]}
        ins(%all#0, %all#2 : !acc, !col) outs(%e_out : tensor<64x16xbf16>) {
    ^bb0(%x: f32, %sum: f32, %o: bf16):
      %some = arith.cmpf ogt, %sum, %zero : f32
      %y = arith.divf %x, %sum : f32
      %z = arith.select %some, %y, %zero : f32
      %t = arith.truncf %z : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<64x16xbf16>
    %l_tile = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%all#1, %all#2 : !col, !col) outs(%e_col : !col) {
    ^bb0(%m: f32, %sum: f32, %o: f32):
      %x = arith.mulf %scale, %m : f32
      %y = math.log %sum : f32
      %z = arith.addf %x, %y : f32
      linalg.yield %z : f32
    } -> !col
    %o_rows = tensor.extract_slice %o_tile[0, 0] [%count, 16] [1, 1]
        : tensor<64x16xbf16> to tensor<?x16xbf16>
    %l_rows = tensor.extract_slice %l_tile[0] [%count] [1] : !col to tensor<?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %o_rows into %o_all[%q_row, %h, 0] [%count, 1, 16] [1, 1, 1]
          : tensor<?x16xbf16> into !kv
      tensor.parallel_insert_slice %l_rows into %l_all[%q_row, %h] [%count, 1] [1, 1]
          : tensor<?xf32> into tensor<?x2xf32>
    }
  }
  return %r#0, %r#1 : !kv, tensor<?x2xf32>
}
