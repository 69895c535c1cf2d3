#!/usr/bin/env bash
# A mask that the compiler has never heard of: prefix-LM, where the first P tokens
# of each sequence see each other and the rest is causal. It is one attribute in a
# library of its own, test/lib/TestMLA.{td,cpp}, about twenty lines without the
# banners; mla-opt loads it as a plugin. What comes out, level 1, is upstream MLIR
# and a few mla ops, so mla-run needs no plugin.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

work=build/examples/04-new-mask
PYTHONPATH=python "${PYTHON:-.venv/bin/python}" "$here/make_data.py" $work

build/bin/mla-opt "$here/prefix_lm.mlir" \
  --load-dialect-plugin=build/lib/libMLATestPlugin.so \
  --mla-lower="stop-after=tile" >$work/level-1.mlir

echo "the predicate in level 1:"
grep -B2 -A5 'arith.cmpi sle' $work/level-1.mlir

# The printed module has numbers where prefix_lm.mlir has names.
arguments=()
names=(prefix q offsets k v k_rope scale)
for i in "${!names[@]}"; do
  arguments+=(--arg "arg$i=$work/${names[$i]}.npy")
done
build/bin/mla-run $work/level-1.mlir "${arguments[@]}" \
  --expect "arg7=$work/expected.npy" --tolerance 1e-5
