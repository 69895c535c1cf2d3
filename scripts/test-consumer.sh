#!/usr/bin/env bash
# Installs the release build, moves the tree elsewhere, and builds and runs
# test/consumer against it: the exported package must not remember where it was.
set -euo pipefail
cd "$(dirname "$0")/.."

work=build/consumer
rm -rf $work
cmake --install build --prefix "$PWD/$work/installed" >/dev/null
mv $work/installed $work/moved

cmake -S test/consumer -B $work/build -G Ninja -Wno-dev \
  -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
  -DCMAKE_BUILD_TYPE=Release -DMLA_DIR="$PWD/$work/moved/lib/cmake/mla"
cmake --build $work/build
MLA_CACHE_DIR=off ctest --test-dir $work/build --output-on-failure --no-tests=error

# Programs and libraries find each other in the moved tree.
$work/moved/bin/mla-opt --version >/dev/null
if grep -rIl "$PWD/$work/installed" $work/moved; then
  echo "the files above name the place they were installed to" >&2
  exit 1
fi
