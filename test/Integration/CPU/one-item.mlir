// One head, one sequence and fewer queries than a tile, all of it static: the loop
// over work items has one iteration, and canonicalization takes it away.

// REQUIRES: numpy

// RUN: %numpy_python %S/Inputs/call.py mla-run %s --array q=7x1x24 --array k=9x1x16 \
// RUN:   --array v=9x1x16 --array rope=9x8 --int iro=0,7 --int bro=0,9 \
// RUN:   --scalar scale=0.25 \
// RUN:   --expect "y=7x1x16=np.einsum('hqk,khd->qhd', softmax(0.25 * (np.einsum('qhd,khd->hqk', q[:, :, :16], k) + np.einsum('qhd,kd->hqk', q[:, :, 16:], rope))), v)"

func.func @prefill(%q: tensor<7x1x24xf32>, %iro: tensor<2xi32>, %k: tensor<9x1x16xf32>,
    %v: tensor<9x1x16xf32>, %bro: tensor<2xi32>, %rope: tensor<9x8xf32>, %scale: f32,
    %y: tensor<7x1x16xf32>) -> tensor<7x1x16xf32> {
  %o = mla.prefill #mla.null queries(%q, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%y)
      : (tensor<7x1x24xf32>, tensor<2xi32>, tensor<9x1x16xf32>, tensor<9x1x16xf32>,
         tensor<2xi32>, tensor<9x8xf32>, f32, tensor<7x1x16xf32>) -> tensor<7x1x16xf32>
  return %o : tensor<7x1x16xf32>
}
