// RUN: mla-opt %s -split-input-file -verify-diagnostics
// RUN: not mla-opt %s -split-input-file 2>&1 \
// RUN:   | grep 'error:' | grep -v 'was not produced' | count 5

func.func @warpgroups() {
  // expected-error @+1 {{attribute 'warpgroups' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  wg.roles warpgroups 0 producer registers 40 {
  } consumer registers 232 {
  }
  return
}

// -----

func.func @few() {
  // expected-error @+1 {{registers: expected a multiple of 8 from 24 to 256, got 16}}
  wg.roles warpgroups 2 producer registers 16 {
  } consumer registers 232 {
  }
  return
}

// -----

func.func @many() {
  // expected-error @+1 {{registers: expected a multiple of 8 from 24 to 256, got 264}}
  wg.roles warpgroups 1 producer registers 40 {
  } consumer registers 264 {
  }
  return
}

// -----

func.func @odd() {
  // expected-error @+1 {{registers: expected a multiple of 8 from 24 to 256, got 100}}
  wg.roles warpgroups 1 producer registers 40 {
  } consumer registers 100 {
  }
  return
}

// -----

// What the register file has for a thread of each warpgroup: 512.
func.func @together() {
  // expected-error @+1 {{registers: expected at most 512 of a thread of each warpgroup together, got 520}}
  wg.roles warpgroups 2 producer registers 40 {
  } consumer registers 240 {
  }
  return
}
