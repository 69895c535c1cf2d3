//===- Kernels.h - PTX of the smoke test's kernels --------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_UNITTESTS_RUNTIME_GPUSMOKE_KERNELS_H
#define MLA_UNITTESTS_RUNTIME_GPUSMOKE_KERNELS_H

namespace kernels {

/// add(a, b, out, n): out[i] = a[i] + b[i].
constexpr char add[] = R"ptx(
.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 pa, .param .u64 pb, .param .u64 po,
                    .param .u32 pn)
{
  .reg .pred %p;
  .reg .b32 %i, %n, %t, %c;
  .reg .b64 %a, %b, %o, %offset;
  .reg .f32 %x, %y;
  ld.param.u64 %a, [pa];
  ld.param.u64 %b, [pb];
  ld.param.u64 %o, [po];
  ld.param.u32 %n, [pn];
  mov.u32 %i, %ctaid.x;
  mov.u32 %c, %ntid.x;
  mov.u32 %t, %tid.x;
  mad.lo.u32 %i, %i, %c, %t;
  setp.ge.u32 %p, %i, %n;
  @%p ret;
  mul.wide.u32 %offset, %i, 4;
  add.u64 %a, %a, %offset;
  add.u64 %b, %b, %offset;
  add.u64 %o, %o, %offset;
  ld.global.f32 %x, [%a];
  ld.global.f32 %y, [%b];
  add.f32 %x, %x, %y;
  st.global.f32 [%o], %x;
  ret;
}
)ptx";

/// box(map, out, loaded, bytes, c0, c1, c2): one thread loads the box of
/// `loaded` bytes at those coordinates (innermost first) of a tensor of three
/// dimensions into shared memory, all threads copy `bytes` bytes from there to
/// `out` as they lie. Shared memory holds ones before, and starts at a multiple
/// of 1024, as the swizzle counts from there.
constexpr char box[] = R"ptx(
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 1024 .b8 tile[];
.shared .align 8 .b64 barrier;
.visible .entry box(.param .align 64 .b8 map[128], .param .u64 pout,
                    .param .u32 ploaded, .param .u32 pbytes, .param .u32 pc0,
                    .param .u32 pc1, .param .u32 pc2)
{
  .reg .pred %first, %done, %more;
  .reg .b32 %t, %at, %loaded, %bytes, %c0, %c1, %c2, %bar, %tile, %from;
  .reg .b32 %word, %step;
  .reg .b64 %map, %out, %to, %state;
  mov.b64 %map, map;
  cvta.param.u64 %map, %map;
  ld.param.u64 %out, [pout];
  ld.param.u32 %loaded, [ploaded];
  ld.param.u32 %bytes, [pbytes];
  ld.param.u32 %c0, [pc0];
  ld.param.u32 %c1, [pc1];
  ld.param.u32 %c2, [pc2];
  mov.u32 %t, %tid.x;
  mov.u32 %bar, barrier;
  mov.u32 %tile, tile;
  mov.u32 %step, %ntid.x;
  shl.b32 %step, %step, 2;
  setp.eq.u32 %first, %t, 0;
  @%first mbarrier.init.shared::cta.b64 [%bar], 1;
  @%first fence.mbarrier_init.release.cluster;
  shl.b32 %at, %t, 2;
fill:
  setp.ge.u32 %more, %at, %bytes;
  @%more bra filled;
  add.u32 %from, %tile, %at;
  st.shared.u32 [%from], 0xffffffff;
  add.u32 %at, %at, %step;
  bra fill;
filled:
  fence.proxy.async;
  bar.sync 0;
  @%first mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%bar], %loaded;
  @%first cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes
          [%tile], [%map, {%c0, %c1, %c2}], [%bar];
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], 0;
  @!%done bra wait;
  shl.b32 %at, %t, 2;
copy:
  setp.ge.u32 %more, %at, %bytes;
  @%more ret;
  add.u32 %from, %tile, %at;
  ld.shared.u32 %word, [%from];
  cvt.u64.u32 %to, %at;
  add.u64 %to, %to, %out;
  st.global.u32 [%to], %word;
  add.u32 %at, %at, %step;
  bra copy;
}
)ptx";

/// tickets(out, items, spin, slot): blocks of one thread draw tickets from the
/// counter in the slot's first word until there are no more items, and count in
/// out[ticket] how often it was drawn. The last block, by the slot's second
/// word, leaves both zero. Each block waits between tickets for `spin` clocks,
/// so that launches overlap.
constexpr char tickets[] = R"ptx(
.version 8.0
.target sm_90
.address_size 64
.visible .entry tickets(.param .u64 pout, .param .u32 pitems, .param .u32 pspin,
                        .param .u64 pslot)
{
  .reg .pred %none, %early, %last;
  .reg .b32 %items, %spin, %ticket, %old, %blocks, %start, %now;
  .reg .b64 %out, %slot, %at;
  ld.param.u64 %out, [pout];
  ld.param.u32 %items, [pitems];
  ld.param.u32 %spin, [pspin];
  ld.param.u64 %slot, [pslot];
  griddepcontrol.wait;
  griddepcontrol.launch_dependents;
draw:
  atom.global.add.u32 %ticket, [%slot], 1;
  setp.ge.u32 %none, %ticket, %items;
  @%none bra finish;
  mul.wide.u32 %at, %ticket, 4;
  add.u64 %at, %at, %out;
  red.global.add.u32 [%at], 1;
  mov.u32 %start, %clock;
hold:
  mov.u32 %now, %clock;
  sub.u32 %now, %now, %start;
  setp.lt.u32 %early, %now, %spin;
  @%early bra hold;
  bra draw;
finish:
  mov.u32 %blocks, %nctaid.x;
  sub.u32 %blocks, %blocks, 1;
  membar.gl;
  atom.global.inc.u32 %old, [%slot + 4], %blocks;
  setp.eq.u32 %last, %old, %blocks;
  @%last st.global.u32 [%slot], 0;
  ret;
}
)ptx";

/// where(out, slot): *out = slot.
constexpr char where[] = R"ptx(
.version 8.0
.target sm_90
.address_size 64
.visible .entry where(.param .u64 pout, .param .u64 pslot)
{
  .reg .b64 %out, %slot;
  ld.param.u64 %out, [pout];
  ld.param.u64 %slot, [pslot];
  st.global.u64 [%out], %slot;
  ret;
}
)ptx";

} // namespace kernels

#endif // MLA_UNITTESTS_RUNTIME_GPUSMOKE_KERNELS_H
