// Two prefills with different masks for each layer, in a loop that is the caller's
// own: layer i's queries, keys and values are slice i of stacked tensors, and so are
// the destinations, so that no iteration writes where another one did.

!q = memref<?x2x192xbf16, strided<[384, 192, 1], offset: ?>>
!kv = memref<?x2x128xbf16, strided<[256, 128, 1], offset: ?>>
!out = memref<?x2x128xf32, strided<[256, 128, 1], offset: ?>>
!lse = memref<?x2xf32, strided<[2, 1], offset: ?>>
!qs = memref<?x?x2x192xbf16>
!kvs = memref<?x?x2x128xbf16>
!outs = memref<?x?x2x128xf32>
!lses = memref<?x?x2xf32>
!pages = memref<?x1x?x64x1x96xbf16>

func.func @layers(%window: i32, %qs: !qs, %iro: memref<?xi32>, %ks: !kvs, %vs: !kvs,
    %bro: memref<?xi32>, %cache: !pages, %table: memref<?x?xi32>,
    %lengths: memref<?xi32>, %scale: f32, %causal: !kvs, %windowed: !outs,
    %windowed_lse: !lses) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %layers = memref.dim %qs, %c0 : !qs
  %tokens = memref.dim %qs, %c1 : !qs
  %rows = memref.dim %ks, %c1 : !kvs
  scf.for %layer = %c0 to %layers step %c1 {
    %q = memref.subview %qs[%layer, 0, 0, 0] [1, %tokens, 2, 192] [1, 1, 1, 1]
        : !qs to !q
    %k = memref.subview %ks[%layer, 0, 0, 0] [1, %rows, 2, 128] [1, 1, 1, 1]
        : !kvs to !kv
    %v = memref.subview %vs[%layer, 0, 0, 0] [1, %rows, 2, 128] [1, 1, 1, 1]
        : !kvs to !kv
    %a = memref.subview %causal[%layer, 0, 0, 0] [1, %tokens, 2, 128] [1, 1, 1, 1]
        : !kvs to !kv
    %b = memref.subview %windowed[%layer, 0, 0, 0] [1, %tokens, 2, 128] [1, 1, 1, 1]
        : !outs to !out
    %b_lse = memref.subview %windowed_lse[%layer, 0, 0] [1, %tokens, 2] [1, 1, 1]
        : !lses to !lse
    mla.prefill #mla.causal queries(%q, %iro) keys(%k, %v, %bro)
        pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%a)
        : (!q, memref<?xi32>, !kv, !kv, memref<?xi32>, !pages, memref<?x?xi32>,
           memref<?xi32>, index, f32, !kv) -> ()
    mla.prefill #mla.sliding_window_causal parameters(%window)
        queries(%q, %iro) keys(%k, %v, %bro)
        pages(%cache, %table, %lengths, %layer) scale(%scale) outs(%b, %b_lse)
        : (i32, !q, memref<?xi32>, !kv, !kv, memref<?xi32>, !pages, memref<?x?xi32>,
           memref<?xi32>, index, f32, !out, !lse) -> ()
  }
  return
}
