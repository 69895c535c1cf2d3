// The roles' threads do not meet again: nothing follows.

// RUN: mla-opt %s -verify-diagnostics

func.func @more(%out: memref<index>, %x: index) {
  // expected-error @+1 {{'wg.roles' op }}
  wg.roles warpgroups 2 producer registers 40 {
  } consumer registers 232 {
  }
  memref.store %x, %out[] : memref<index>
  return
}
