// One nope column: a contraction whose reduction is not a loop.

// REQUIRES: numpy

// RUN: %numpy_python %S/Inputs/call.py mla-run %s --array q=70x2x9 --array k=90x2x1 \
// RUN:   --array v=90x2x16 --array rope=90x8 --int iro=0,70 --int bro=0,90 \
// RUN:   --scalar scale=0.25 \
// RUN:   --expect "y=70x2x16=np.einsum('hqk,khd->qhd', softmax(0.25 * (np.einsum('qhd,khd->hqk', q[:, :, :1], k) + np.einsum('qhd,kd->hqk', q[:, :, 1:], rope))), v)"

func.func @prefill(%q: tensor<?x2x9xf32>, %iro: tensor<?xi32>, %k: tensor<?x2x1xf32>,
    %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>, %rope: tensor<?x8xf32>, %scale: f32,
    %y: tensor<?x2x16xf32>) -> tensor<?x2x16xf32> {
  %o = mla.prefill #mla.null queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%y)
      : (tensor<?x2x9xf32>, tensor<?xi32>, tensor<?x2x1xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return %o : tensor<?x2x16xf32>
}
