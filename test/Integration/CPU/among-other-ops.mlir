// An op whose queries and result are other ops' tensors: a module is compiled as a
// whole.

// REQUIRES: numpy

// RUN: %numpy_python %S/Inputs/call.py mla-run %s --array q=7x2x24 --array k=9x2x16 \
// RUN:   --array v=9x2x16 --array rope=9x8 --array x=7x2x16 --int iro=0,7 --int bro=0,9 \
// RUN:   --scalar scale=0.25 \
// RUN:   --expect "y=7x2x16=x + np.einsum('hqk,khd->qhd', softmax(0.5 * (np.einsum('qhd,khd->hqk', q[:, :, :16], k) + np.einsum('qhd,kd->hqk', q[:, :, 16:], rope))), v)"

// y = x + prefill(2 q)
func.func @among(%q: tensor<?x2x24xf32>, %iro: tensor<?xi32>,
    %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>, %bro: tensor<?xi32>,
    %rope: tensor<?x8xf32>, %scale: f32, %x: tensor<?x2x16xf32>,
    %y: tensor<?x2x16xf32>) -> tensor<?x2x16xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x2x24xf32>
  %e_q = tensor.empty(%n) : tensor<?x2x24xf32>
  %q2 = linalg.add ins(%q, %q : tensor<?x2x24xf32>, tensor<?x2x24xf32>)
      outs(%e_q : tensor<?x2x24xf32>) -> tensor<?x2x24xf32>
  %e_o = tensor.empty(%n) : tensor<?x2x16xf32>
  %o = mla.prefill #mla.null queries(%q2, %iro) keys(%k, %v, %bro) rope(%rope)
      scale(%scale) outs(%e_o)
      : (tensor<?x2x24xf32>, tensor<?xi32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
         tensor<?xi32>, tensor<?x8xf32>, f32, tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  %r = linalg.add ins(%x, %o : tensor<?x2x16xf32>, tensor<?x2x16xf32>)
      outs(%y : tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  return %r : tensor<?x2x16xf32>
}
