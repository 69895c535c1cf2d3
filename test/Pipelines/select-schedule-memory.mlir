// On a GPU as many keys are a tile as fit shared memory twice: 128 of DeepSeek's widths, 64
// of keys and values twice as wide. The rope part begins a panel of 128 bytes, of queries
// and of keys: 32 columns and 32 are two.

// RUN: mla-opt %s -mla-select-schedule="target=sm_90a" | FileCheck %s

// CHECK-LABEL: func.func @deepseek
// CHECK: key_tile = 128, guarded_key_tile = 128
func.func @deepseek(%q: tensor<?x2x192xbf16>, %offsets: tensor<?xi32>,
    %k: tensor<?x2x128xbf16>, %v: tensor<?x2x128xbf16>, %rope: tensor<?x64xbf16>, %scale: f32,
    %out: tensor<?x2x128xbf16>) -> tensor<?x2x128xbf16> {
  %0 = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %v, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x192xbf16>, tensor<?xi32>, tensor<?x2x128xbf16>, tensor<?x2x128xbf16>,
         tensor<?xi32>, tensor<?x64xbf16>, f32, tensor<?x2x128xbf16>) -> tensor<?x2x128xbf16>
  return %0 : tensor<?x2x128xbf16>
}

// CHECK-LABEL: func.func @wide
// CHECK: key_tile = 64, guarded_key_tile = 64
func.func @wide(%q: tensor<?x2x256xbf16>, %offsets: tensor<?xi32>,
    %k: tensor<?x2x192xbf16>, %v: tensor<?x2x256xbf16>, %rope: tensor<?x64xbf16>, %scale: f32,
    %out: tensor<?x2x256xbf16>) -> tensor<?x2x256xbf16> {
  %0 = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %v, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x256xbf16>, tensor<?xi32>, tensor<?x2x192xbf16>, tensor<?x2x256xbf16>,
         tensor<?xi32>, tensor<?x64xbf16>, f32, tensor<?x2x256xbf16>) -> tensor<?x2x256xbf16>
  return %0 : tensor<?x2x256xbf16>
}

// CHECK-LABEL: func.func @two_panels
// CHECK: key_tile = 64, guarded_key_tile = 64
func.func @two_panels(%q: tensor<?x2x64xbf16>, %offsets: tensor<?xi32>,
    %k: tensor<?x2x32xbf16>, %v: tensor<?x2x256xbf16>, %rope: tensor<?x32xbf16>, %scale: f32,
    %out: tensor<?x2x256xbf16>) -> tensor<?x2x256xbf16> {
  %0 = mla.prefill #mla.causal queries(%q, %offsets) keys(%k, %v, %offsets)
      rope(%rope) scale(%scale) outs(%out)
      : (tensor<?x2x64xbf16>, tensor<?xi32>, tensor<?x2x32xbf16>, tensor<?x2x256xbf16>,
         tensor<?xi32>, tensor<?x32xbf16>, f32, tensor<?x2x256xbf16>) -> tensor<?x2x256xbf16>
  return %0 : tensor<?x2x256xbf16>
}
