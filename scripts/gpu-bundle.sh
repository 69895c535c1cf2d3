#!/usr/bin/env bash
# What a machine with a GPU and no LLVM needs to run the GPU suite: the
# self-contained libraries, mla-run, the Python package and its tests, and level 1 of
# the modules whose mask is in test/lib alone, in build-static/mla-gpu.tar.xz. There,
# unpacked, with numpy, ml_dtypes, hypothesis, pytest and ptxas:
#
#     export PYTHONPATH=python MLA_COMPILER_LIBRARY=lib/libMLACompiler.so
#     python3 python/tests/gpu_suite.py
#     python3 python/tests/gpu_suite.py --random 10000
#     python3 python/tests/gpu_sanitize.py # with compute-sanitizer
#     python3 python/tests/gpu_python.py # with PyTorch
#     LD_LIBRARY_PATH=lib lib/prefill-gpu gpu # examples/07-ahead-of-time
set -euo pipefail
cd "$(dirname "$0")/.."

cmake --preset release >/dev/null
cmake --build build --target mla-opt mla-run MLATestPlugin
cmake --preset static >/dev/null
cmake --build build-static --target MLACompiler MLARuntime mla-run
bundle=build-static/mla-gpu
rm -rf "$bundle"
mkdir -p "$bundle/lib"
strip=$(command -v llvm-strip-22 || command -v strip)
for library in libMLACompiler.so libMLARuntime.so; do
  "$strip" -o "$bundle/lib/$library" "build-static/lib/$library"
done
cp build-static/bin/mla-run "$bundle/lib/" # it looks for its libraries beside it
# Compiled here, ahead of time.
examples/07-ahead-of-time/run.sh
cp build/examples/07-ahead-of-time/prefill-gpu "$bundle/lib/"
cp -r python "$bundle/"
# The soft cap of one example, another one and the README's block are tested.
mkdir -p "$bundle/examples"
cp -r examples/05-edit-level-1 examples/06-torch "$bundle/examples/"
cp README.md "$bundle/"
PYTHONPATH=python MLA_COMPILER_LIBRARY=build/lib/libMLACompiler.so \
  .venv/bin/python python/tests/level1.py sm_90a "$bundle/python/tests/modules"
find "$bundle" -name __pycache__ -prune -exec rm -r {} +
tar -C "$bundle" -c . | xz -T0 -2 >build-static/mla-gpu.tar.xz
ls -l build-static/mla-gpu.tar.xz
