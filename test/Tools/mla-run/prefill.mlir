// One call of mla.prefill from the command line, and one that is refused. With
// equal scores a row of the output is the mean of the values that it sees: under
// this window, of its own and the one before.

// RUN: mla-run %s --target cpu-generic --arg window=2 --arg scale=0.5 \
// RUN:   --arg q=zeros:3x1x6 --arg offsets=[0,2,3] --arg k=zeros:3x1x4 \
// RUN:   --arg v=[[[0,1,2,3]],[[2,3,4,5]],[[9,9,9,9]]] --arg rope=zeros:3x2 \
// RUN:   --arg out=nan:3x1x4 --tolerance 1e-6 \
// RUN:   --expect out=[[[0,1,2,3]],[[1,2,3,4]],[[9,9,9,9]]] | FileCheck %s
// CHECK: out: ok

// RUN: not mla-run %s --target cpu-generic --arg window=0 --arg scale=0.5 \
// RUN:   --arg q=zeros:3x1x6 --arg offsets=[0,2,3] --arg k=zeros:3x1x4 \
// RUN:   --arg v=ones:3x1x4 --arg rope=zeros:3x2 --arg out=nan:3x1x4 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WINDOW
// WINDOW: mla-run: error: argument 0 ('window'): expected a number > 0, got 0

func.func @prefill(%window: i32, %q: tensor<?x1x6xf32>, %offsets: tensor<?xi32>,
    %k: tensor<?x1x4xf32>, %v: tensor<?x1x4xf32>, %rope: tensor<?x2xf32>,
    %scale: f32, %out: tensor<?x1x4xf32>) -> tensor<?x1x4xf32> {
  %o = mla.prefill #mla.sliding_window_causal parameters(%window)
      queries(%q, %offsets) keys(%k, %v, %offsets) rope(%rope)
      scale(%scale) outs(%out)
      : (i32, tensor<?x1x6xf32>, tensor<?xi32>, tensor<?x1x4xf32>,
         tensor<?x1x4xf32>, tensor<?xi32>, tensor<?x2xf32>, f32,
         tensor<?x1x4xf32>) -> tensor<?x1x4xf32>
  return %o : tensor<?x1x4xf32>
}
