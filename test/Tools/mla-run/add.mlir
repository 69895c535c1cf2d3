// Values from the command line and from files, results to check, print and keep.

// RUN: mla-run %s --signature | FileCheck %s --check-prefix=SIGNATURE
// SIGNATURE: argument 0: 'a' (f32 tensor of shape [?, 4])
// SIGNATURE-NEXT: argument 1: 'b' (bf16 tensor of shape [?, 4])
// SIGNATURE-NEXT: argument 2: 'alpha' (f32 scalar)
// SIGNATURE-NEXT: argument 3: 'out' (f32 tensor of shape [?, 4]), written

// RUN: mla-run %s --arg a=[[1,2,3,4],[5,6,7,8]] --arg b=ones:2x4 --arg alpha=0.5 \
// RUN:   --arg out=nan:2x4 --print out --out out=%t.npy --time --repeat 3 \
// RUN:   --expect out=[[1.5,2.5,3.5,4.5],[5.5,6.5,7.5,8.5]] \
// RUN:   | FileCheck %s --check-prefix=CALL
// CALL: compile: {{[0-9.]+}} ms
// CALL-NEXT: run: first {{[0-9.]+}} ms, best {{[0-9.]+}} ms, median {{[0-9.]+}} ms of 3
// CALL-NEXT: out = {{\[\[}}1.5, 2.5, 3.5, 4.5], [5.5, 6.5, 7.5, 8.5]]
// CALL-NEXT: out: ok: max abs error 0 at [0, 0]

// The file of one call is an argument of the next, rounded to its type there;
// `out` starts as zeros in the shape that is expected of it.
// RUN: mla-run %s --arg a=%t.npy --arg b=%t.npy --arg alpha=1 --out b=%t.b.npy \
// RUN:   --expect out=[[3,5,7,9],[11,13,15,17]] | FileCheck %s --check-prefix=FILE
// RUN: mla-run %s --arg a=%t.npy --arg b=%t.b.npy --arg alpha=1 --threads 1 \
// RUN:   --expect out=[[3,5,7,9],[11,13,15,17]] | FileCheck %s --check-prefix=FILE
// FILE: out: ok: max abs error 0

// Standard input, and the other targets that run everywhere.
// RUN: mla-run - --target cpu-generic --arg a=ones:1x4 --arg b=ones:1x4 --arg alpha=2 \
// RUN:   --arg out=zeros:1x4 --expect out=[[3,3,3,3]] < %s | FileCheck %s --check-prefix=FILE

// Nothing to do is fine.
// RUN: mla-run %s --arg a=ones:0x4 --arg b=ones:0x4 --arg alpha=1 --arg out=nan:0x4 \
// RUN:   --expect out=zeros:0x4 | FileCheck %s --check-prefix=EMPTY
// EMPTY: out: ok: max abs error 0 at no element

// A mismatch has an exit status of its own.
// RUN: not mla-run %s --arg a=ones:1x4 --arg b=ones:1x4 --arg alpha=1 --tolerance 1e-2,0 \
// RUN:   --expect out=[[2,2.005,2,3]] | FileCheck %s --check-prefix=MISMATCH
// RUN: sh -c 'mla-run %s --arg a=ones:1x4 --arg b=ones:1x4 --arg alpha=1 \
// RUN:   --expect out=[[2,2,2,3]] ; test $? = 1'
// MISMATCH: out: mismatch: 1 of 4 elements are off by more than 0.01 + 0 * |expected|; the worst is [0, 3]: expected 3, got 2, abs error 1

// RUN: mla-run %s --dump-after tile | FileCheck %s --check-prefix=TILE
// TILE: func.func @add
// RUN: mla-run %s --arg a=ones:1x4 --arg b=ones:1x4 --arg alpha=1 --arg out=nan:1x4 \
// RUN:   --progress 2>&1 | FileCheck %s --check-prefix=PROGRESS
// PROGRESS: compiling {{.*}}add.mlir
// PROGRESS-NEXT: run 1 of 1

#id = affine_map<(i, j) -> (i, j)>
func.func @add(%a: tensor<?x4xf32>, %b: tensor<?x4xbf16>, %alpha: f32,
    %out: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x4xf32>, tensor<?x4xbf16>)
      outs(%out : tensor<?x4xf32>) {
  ^bb0(%x: f32, %y: bf16, %o: f32):
    %e = arith.extf %y : bf16 to f32
    %m = arith.mulf %e, %alpha : f32
    %s = arith.addf %x, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
