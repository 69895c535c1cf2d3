// The pages of a tile are looked up before the wait for its slot, so that one way to
// memory hides behind the other.

// RUN: mla-opt %s -mla-wg-lower-rings -canonicalize -cse | FileCheck %s

gpu.module @kernels {
  // CHECK: wg.roles
  // CHECK-NOT: nvvm.mbarrier
  // CHECK-COUNT-4: memref.load
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: nvvm.cp.async.bulk
  llvm.func @runs(%c: !llvm.ptr, %t: !llvm.ptr, %s: i64, %p: i64, %n: i64, %l: i64, %use: i32,
      %m: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %cache = builtin.unrealized_conversion_cast %c : !llvm.ptr to memref<?x1x?x48x1x576xbf16>
    %table = builtin.unrealized_conversion_cast %t : !llvm.ptr to memref<?x?xi32>
    %sequence = builtin.unrealized_conversion_cast %s : i64 to index
    %position = builtin.unrealized_conversion_cast %p : i64 to index
    %count = builtin.unrealized_conversion_cast %n : i64 to index
    %layer = builtin.unrealized_conversion_cast %l : i64 to index
    %map = builtin.unrealized_conversion_cast %m : !llvm.ptr to !wg.tensor_map<1x1x16x64xbf16>
    %ring = wg.ring consumers 1 : !wg.ring<1 x !wg.tile<64x64xbf16>>
    wg.roles warpgroups 1 producer registers 40 {
      wg.acquire %ring[%use] : !wg.ring<1 x !wg.tile<64x64xbf16>>
      wg.copy_pages %cache by %map[layer %layer, column 512] through %table[%sequence]
          rows(%position, %count) to %ring[%use] element 0
          : memref<?x1x?x48x1x576xbf16> by !wg.tensor_map<1x1x16x64xbf16>, memref<?x?xi32>,
            !wg.ring<1 x !wg.tile<64x64xbf16>>
      wg.commit %ring[%use] : !wg.ring<1 x !wg.tile<64x64xbf16>>
    } consumer registers 232 {
    }
    llvm.return
  }
}
