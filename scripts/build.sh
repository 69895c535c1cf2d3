#!/usr/bin/env bash
# scripts/build.sh [PRESET [TARGET...]]: configures and builds a preset of
# CMakePresets.json, `release` unless named.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
[ $# -eq 0 ] || shift
build=build-$preset
[ "$preset" != release ] || build=build

[ -f "$build/build.ninja" ] || cmake --preset "$preset"
cmake --build "$build" -j "${MLA_BUILD_JOBS:-$(nproc)}" ${1:+--target "$@"}
