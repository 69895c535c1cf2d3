// Attention written out in plain linalg, with no op of ours and no mask: the rules are
// the same. The lines marked CAP put a soft cap on the scores in place of those marked
// PLAIN. (How it goes on from here: Pipelines/sm_90a-plain.mlir.)

// RUN: sed '/[/][/] CAP /d' %s > %t.plain.mlir
// RUN: sed -e 's|// CAP ||' -e '/[/][/] PLAIN$/d' %s > %t.cap.mlir

// RUN: mla-opt %t.plain.mlir -mla-tile-to-warpgroup -canonicalize -cse | FileCheck %s \
// RUN:   --implicit-check-not=linalg --implicit-check-not=tensor
// The cap comes along as it is.
// RUN: mla-opt %t.cap.mlir -mla-tile-to-warpgroup -canonicalize -cse \
// RUN:   | FileCheck %s --check-prefixes=CHECK,SOFT

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#v = affine_map<(i) -> (i)>
!qkv = memref<?x8x64xbf16, strided<[?, ?, 1], offset: ?>>

// CHECK-LABEL: func.func @attention
// CHECK: scf.forall
// CHECK: scf.for {{.*}} -> (!wg.fragment<64x64xf32, accumulator>, !wg.fragment<64xf32, row>, !wg.fragment<64xf32, row>) {
// CHECK: %[[SP:.*]] = wg.mma %{{.*}} by %{{.*}} transposed : !wg.tile<64x64xbf16> by !wg.tile<128x64xbf16> -> <<64x128xf32, accumulator>>
// CHECK: %[[S:.*]] = wg.wait %[[SP]]
// SOFT: wg.map %[[S]] : !wg.fragment<64x128xf32, accumulator> -> <64x128xf32, accumulator> {
// SOFT: math.exp2
// SOFT: arith.divf
// CHECK: wg.reduce %{{.*}}, %{{.*}} : <64x128xf32, accumulator> -> <64xf32, row> {
// CHECK: arith.maximumf
// CHECK: wg.reduce
// CHECK: arith.addf
// CHECK: wg.operand_a
// CHECK: wg.mma %{{.*}} by %{{.*}} accumulate %{{.*}} : !wg.fragment<64x64xf32, accumulator>, !wg.fragment<64x128xbf16, operand_a> by !wg.tile<128x64xbf16>
// CHECK: scf.yield
// CHECK: wg.store
func.func @attention(%q: !qkv, %k: !qkv, %v: !qkv, %n: index, %keys: index, %scale: f32,
    %out: memref<?x8x64xbf16>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %nothing = arith.constant 0.0 : bf16
  %qt = bufferization.to_tensor %q restrict : !qkv to tensor<?x8x64xbf16>
  %kt = bufferization.to_tensor %k restrict : !qkv to tensor<?x8x64xbf16>
  %vt = bufferization.to_tensor %v restrict : !qkv to tensor<?x8x64xbf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<?x8x64xbf16> to tensor<?x8x64xbf16>
  %e0 = tensor.empty() : tensor<64x64xf32>
  %e1 = tensor.empty() : tensor<64xf32>
  %e2 = tensor.empty() : tensor<64x128xf32>
  %e3 = tensor.empty() : tensor<64x128xbf16>
  %e4 = tensor.empty() : tensor<64x64xbf16>
  %acc0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %max0 = linalg.fill ins(%low : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %sum0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = scf.forall (%t, %h) in (%n, 8) shared_outs(%o = %ot) -> (tensor<?x8x64xbf16>) {
    %first = arith.muli %t, %c64 : index
    %qs = tensor.extract_slice %qt[%first, %h, 0] [64, 1, 64] [1, 1, 1]
        : tensor<?x8x64xbf16> to tensor<64x64xbf16>
    %qp = tensor.pad %qs low[0, 0] high[0, 0] {
    ^bb0(%d0: index, %d1: index):
      tensor.yield %nothing : bf16
    } : tensor<64x64xbf16> to tensor<64x64xbf16>
    %f:3 = scf.for %key = %c0 to %keys step %c128
        iter_args(%acc = %acc0, %max = %max0, %sum = %sum0)
        -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) {
      %ks = tensor.extract_slice %kt[%key, %h, 0] [128, 1, 64] [1, 1, 1]
          : tensor<?x8x64xbf16> to tensor<128x64xbf16>
      %vs = tensor.extract_slice %vt[%key, %h, 0] [128, 1, 64] [1, 1, 1]
          : tensor<?x8x64xbf16> to tensor<128x64xbf16>
      %s = linalg.matmul indexing_maps = [#a, #b, #c]
          ins(%qp, %ks : tensor<64x64xbf16>, tensor<128x64xbf16>)
          outs(%s0 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %scaled = linalg.generic {indexing_maps = [#ij, #ij],
          iterator_types = ["parallel", "parallel"]}
          ins(%s : tensor<64x128xf32>) outs(%e2 : tensor<64x128xf32>) {
      ^bb0(%x: f32, %y: f32):
        %z = arith.mulf %x, %scale : f32
        // CAP %one = arith.constant 1.0 : f32
        // CAP %e = math.exp2 %z : f32
        // CAP %less = arith.subf %e, %one : f32
        // CAP %more = arith.addf %e, %one : f32
        // CAP %capped = arith.divf %less, %more : f32
        // CAP linalg.yield %capped : f32
        linalg.yield %z : f32 // PLAIN
      } -> tensor<64x128xf32>
      %newmax = linalg.generic {indexing_maps = [#ij, #i],
          iterator_types = ["parallel", "reduction"]}
          ins(%scaled : tensor<64x128xf32>) outs(%max : tensor<64xf32>) {
      ^bb0(%x: f32, %y: f32):
        %z = arith.maximumf %x, %y : f32
        linalg.yield %z : f32
      } -> tensor<64xf32>
      %factor = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
          ins(%max, %newmax : tensor<64xf32>, tensor<64xf32>) outs(%e1 : tensor<64xf32>) {
      ^bb0(%x: f32, %y: f32, %u: f32):
        %z = arith.subf %x, %y : f32
        %w = math.exp2 %z : f32
        linalg.yield %w : f32
      } -> tensor<64xf32>
      %p = linalg.generic {indexing_maps = [#ij, #i, #ij],
          iterator_types = ["parallel", "parallel"]}
          ins(%scaled, %newmax : tensor<64x128xf32>, tensor<64xf32>)
          outs(%e2 : tensor<64x128xf32>) {
      ^bb0(%x: f32, %y: f32, %u: f32):
        %z = arith.subf %x, %y : f32
        %w = math.exp2 %z : f32
        linalg.yield %w : f32
      } -> tensor<64x128xf32>
      %oldsum = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
          ins(%sum, %factor : tensor<64xf32>, tensor<64xf32>) outs(%e1 : tensor<64xf32>) {
      ^bb0(%x: f32, %y: f32, %u: f32):
        %z = arith.mulf %x, %y : f32
        linalg.yield %z : f32
      } -> tensor<64xf32>
      %newsum = linalg.generic {indexing_maps = [#ij, #i],
          iterator_types = ["parallel", "reduction"]}
          ins(%p : tensor<64x128xf32>) outs(%oldsum : tensor<64xf32>) {
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        linalg.yield %z : f32
      } -> tensor<64xf32>
      %oldacc = linalg.generic {indexing_maps = [#ij, #i, #ij],
          iterator_types = ["parallel", "parallel"]}
          ins(%acc, %factor : tensor<64x64xf32>, tensor<64xf32>) outs(%e0 : tensor<64x64xf32>) {
      ^bb0(%x: f32, %y: f32, %u: f32):
        %z = arith.mulf %x, %y : f32
        linalg.yield %z : f32
      } -> tensor<64x64xf32>
      %half = linalg.generic {indexing_maps = [#ij, #ij],
          iterator_types = ["parallel", "parallel"]}
          ins(%p : tensor<64x128xf32>) outs(%e3 : tensor<64x128xbf16>) {
      ^bb0(%x: f32, %y: bf16):
        %z = arith.truncf %x : f32 to bf16
        linalg.yield %z : bf16
      } -> tensor<64x128xbf16>
      %newacc = linalg.matmul ins(%half, %vs : tensor<64x128xbf16>, tensor<128x64xbf16>)
          outs(%oldacc : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %newacc, %newmax, %newsum : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    %res = linalg.generic {indexing_maps = [#ij, #i, #ij],
        iterator_types = ["parallel", "parallel"]}
        ins(%f#0, %f#2 : tensor<64x64xf32>, tensor<64xf32>) outs(%e4 : tensor<64x64xbf16>) {
    ^bb0(%x: f32, %y: f32, %u: bf16):
      %z = arith.divf %x, %y : f32
      %w = arith.truncf %z : f32 to bf16
      linalg.yield %w : bf16
    } -> tensor<64x64xbf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %res into %o[%first, %h, 0] [64, 1, 64] [1, 1, 1]
          : tensor<64x64xbf16> into tensor<?x8x64xbf16>
    }
  }
  bufferization.materialize_in_destination %r in restrict writable %out
      : (tensor<?x8x64xbf16>, memref<?x8x64xbf16>) -> ()
  return
}
