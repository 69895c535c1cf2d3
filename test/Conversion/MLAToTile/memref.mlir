// The memref form is read through tensors and written through
// materialize_in_destination; destinations may be written, inputs not. Strides
// and the static batch stay.

// RUN: mla-opt %s -mla-to-tile -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @memref
// CHECK-SAME: %[[W:[a-z0-9]+]]: memref<?xui32>, %[[Q:[a-z0-9]+]]: memref<40x2x24xf32, strided<[96, 48, 1]>>, %[[OFFSETS:[a-z0-9]+]]: memref<4xi32>, %[[K:[a-z0-9]+]]: memref<?x2x16xf32>, %[[ROPE:[a-z0-9]+]]: memref<?x8xf32>, %[[SCALE:[a-z0-9]+]]: f32, %[[OUT:[a-z0-9]+]]: memref<40x2x16xf32, strided<[?, ?, 1], offset: ?>>, %[[LSE:[a-z0-9]+]]: memref<40x2xf32>
// CHECK-DAG: bufferization.to_tensor %[[W]] restrict :
// CHECK-DAG: bufferization.to_tensor %[[Q]] restrict : memref<40x2x24xf32, strided<[96, 48, 1]>> to tensor<40x2x24xf32>
// CHECK-DAG: bufferization.to_tensor %[[OFFSETS]] restrict :
// CHECK-DAG: bufferization.to_tensor %[[K]] restrict :
// CHECK-DAG: bufferization.to_tensor %[[ROPE]] restrict :
// CHECK-DAG: %[[O:.*]] = bufferization.to_tensor %[[OUT]] restrict writable : memref<40x2x16xf32, strided<[?, ?, 1], offset: ?>> to tensor<40x2x16xf32>
// CHECK-DAG: %[[L:.*]] = bufferization.to_tensor %[[LSE]] restrict writable :
// 40 tokens are one tile of 32, and 3 sequences.
// CHECK: %[[R:.*]]:2 = scf.forall (%{{.*}}, %{{.*}}) in (4, 2) shared_outs(%{{.*}} = %[[O]], %{{.*}} = %[[L]])
// CHECK: bufferization.materialize_in_destination %[[R]]#0 in restrict writable %[[OUT]]
// CHECK: bufferization.materialize_in_destination %[[R]]#1 in restrict writable %[[LSE]]
// CHECK-NEXT: return
func.func @memref(%w: memref<?xui32>, %q: memref<40x2x24xf32, strided<[96, 48, 1]>>,
    %offsets: memref<4xi32>, %k: memref<?x2x16xf32>, %rope: memref<?x8xf32>,
    %scale: f32, %out: memref<40x2x16xf32, strided<[?, ?, 1], offset: ?>>,
    %lse: memref<40x2xf32>) {
  mla.prefill #mla.chunked parameters(%w) queries(%q, %offsets)
      keys(%k, %k, %offsets) rope(%rope) scale(%scale) outs(%out, %lse)
      {schedule = #mla.schedule<query_tile = 32, key_tile = 16, guarded_key_tile = 8,
         order = ascending, probability = f32>}
      : (memref<?xui32>, memref<40x2x24xf32, strided<[96, 48, 1]>>, memref<4xi32>,
         memref<?x2x16xf32>, memref<?x2x16xf32>, memref<4xi32>, memref<?x8xf32>, f32,
         memref<40x2x16xf32, strided<[?, ?, 1], offset: ?>>, memref<40x2xf32>) -> ()
  return
}
