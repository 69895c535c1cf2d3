// Each chunk finds its page in the table; neither is touched for rows that are not
// there. The cache's layer and column are parts of the address.

// RUN: mla-opt %s -mla-warpgroup-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK: llvm.func @pages
// CHECK-DAG: %[[CACHE:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?x1x?x32x1x576xbf16>
// CHECK-DAG: %[[TABLE:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?x?xi32>
// CHECK-DAG: %[[SEQUENCE:.*]] = builtin.unrealized_conversion_cast %arg2
// CHECK-DAG: %[[POSITION:.*]] = builtin.unrealized_conversion_cast %arg3
// CHECK-DAG: %[[COUNT:.*]] = builtin.unrealized_conversion_cast %arg4
// CHECK: %[[ROW:.*]] = arith.divui %{{.*}}, %c8
// CHECK: %[[THERE:.*]] = arith.cmpi ult, %[[ROW]], %[[COUNT]]
// CHECK-NEXT: scf.if %[[THERE]]
// CHECK: %[[AT:.*]] = arith.addi %[[POSITION]], %[[ROW]]
// CHECK: %[[SLOT:.*]] = arith.divui %[[AT]], %c32
// CHECK: %[[ENTRY:.*]] = memref.load %[[TABLE]][%[[SEQUENCE]], %[[SLOT]]]
// CHECK: %[[PAGE:.*]] = arith.index_cast %[[ENTRY]]
// CHECK: %[[IN_PAGE:.*]] = arith.remui %[[AT]], %c32
// CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %c512
// CHECK: arith.muli %[[PAGE]], %{{.*}}
// Layer 3 of 32 rows of 576 columns each.
// CHECK: arith.addi %{{.*}}, %c55296
// CHECK: arith.muli %[[IN_PAGE]], %c576
// CHECK: arith.addi %{{.*}}, %[[COLUMN]]
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK-NOT: memref.load
// CHECK: nvvm.fence.proxy
// CHECK-NEXT: nvvm.barrier0
gpu.module @kernels {
  llvm.func @pages(%p: !llvm.ptr, %q: !llvm.ptr, %s: i64, %at: i64, %n: i64)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %cache = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<?x1x?x32x1x576xbf16>
    %table = builtin.unrealized_conversion_cast %q : !llvm.ptr to memref<?x?xi32>
    %sequence = builtin.unrealized_conversion_cast %s : i64 to index
    %position = builtin.unrealized_conversion_cast %at : i64 to index
    %count = builtin.unrealized_conversion_cast %n : i64 to index
    %layer = arith.constant 3 : index
    %t = wg.load_pages %cache[layer %layer, column 512] through %table[%sequence]
        rows(%position, %count)
        : memref<?x1x?x32x1x576xbf16>, memref<?x?xi32> -> !wg.tile<16x64xbf16>
    llvm.return
  }
}
