#!/usr/bin/env bash
# A prefill compiled ahead of time, for this CPU and for a GPU, in programs that
# have nothing of a compiler in them. The second one is made everywhere and runs
# where there is a GPU of compute capability 9.0; CC=... names another C compiler.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

work=build/examples/07-ahead-of-time
mkdir -p $work

# try NAME TARGET
try() {
  echo "== $2"
  build/bin/mla-run "$here/prefill.mlir" --target "$2" --emit-object $work/$1.o
  "${CC:-clang-22}" -std=c11 -O2 -Iinclude "$here/main.c" $work/$1.o \
    -Lbuild/lib -Wl,-rpath,"$PWD/build/lib" -lMLARuntime -lm -o $work/prefill-$1

  echo "the object calls: $(nm --undefined-only $work/$1.o | awk '{ print $2 }' | xargs)"
  echo "the program has: $(ldd $work/prefill-$1 | awk '{ print $1 }' | xargs -n1 basename | xargs)"
  if ldd $work/prefill-$1 | grep -E 'libMLACompiler|libMLIR|libLLVM'; then
    echo "a compiler is in the program" >&2
    exit 1
  fi
  $work/prefill-$1 $1
}

try cpu cpu
try gpu sm_90a
