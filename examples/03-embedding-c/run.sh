#!/usr/bin/env bash
# Installs the build, builds this folder's project against it, and runs it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

work=build/examples/03-embedding-c
cmake --install build --prefix "$PWD/$work/installed" >/dev/null
cmake -S "$here" -B $work/build -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
  -DCMAKE_PREFIX_PATH="$PWD/$work/installed" -Wno-dev >/dev/null
cmake --build $work/build >/dev/null
$work/build/prefill "$here/prefill.mlir"
