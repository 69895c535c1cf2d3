#!/usr/bin/env bash
# DeepSeek-V3's prefill, from the op to numbers: what each stage of the pipeline
# makes of prefill.mlir, then a run that is compared with the float64 oracle.
# Needs scripts/setup.sh and scripts/build.sh. TARGET=cpu-avx2 runs for another
# target, TARGET=sm_90a on a GPU; PYTHON=... takes another Python that has numpy and
# ml_dtypes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

target=${TARGET:-cpu}
bin=build/bin
data=build/examples/01-deepseek-v3-prefill
module=${here#"$PWD"/}/prefill.mlir

lower() { # lower STAGE
  $bin/mla-opt "$module" --mla-lower="target=$target stop-after=$1"
}

# stage NAME PATTERN MEANING: how long the module is, and how much of it is what
# the stage is about.
stage() {
  local text
  text=$(lower "$1")
  printf '  %-11s %5d lines, %4d x %-22s %s\n' "$1" "$(wc -l <<<"$text")" \
    "$(grep -cE "$2" <<<"$text")" "$3" "$4"
}

# What each stage is about; one that is not listed has its length alone.
describe() { # describe STAGE
  case $1 in
  schedule) stage "$1" '#mla.schedule' '#mla.schedule' 'tile sizes, chosen for the target' ;;
  tile) stage "$1" 'linalg.(generic|matmul)' 'linalg op' 'level 1: loops over tiles of tensors' ;;
  strips) stage "$1" 'linalg.(generic|matmul)' 'linalg op' 'queries side by side, keys packed' ;;
  vector) stage "$1" 'vector\.' 'vector op' 'register blocks' ;;
  memref) stage "$1" 'memref\.' 'memref op' 'buffers; items outlined for the threads' ;;
  warpgroup) stage "$1" 'wg\.' 'wg op' 'level 2: copies, products, fragments' ;;
  specialized) stage "$1" 'wg\.' 'wg op' 'a producer that copies, consumers that compute' ;;
  pipelined) stage "$1" 'wg\.' 'wg op' 'products of neighbouring tiles overlap' ;;
  kernel) stage "$1" 'wg\.' 'wg op' 'items outlined as a kernel' ;;
  rings) stage "$1" 'nvvm\.' 'nvvm op' 'rings become barriers and copies' ;;
  nvvm) stage "$1" 'nvvm\.' 'nvvm op' 'what one thread does of each' ;;
  binary) stage "$1" 'gpu.binary' 'gpu.binary' 'compiled for the device' ;;
  llvm) stage "$1" 'llvm\.' 'llvm op' 'ready for LLVM' ;;
  *) printf '  %-11s %5d lines\n' "$1" "$(lower "$1" | wc -l)" ;;
  esac
}

echo "== $module through mla-opt --mla-lower=\"target=$target stop-after=...\""
# The target's stages, from the message about one that no target has.
stages=$({ lower '?' 2>&1 || true; } | sed -n 's/.*known: //p' | tr -d ,)
for name in $stages; do
  describe "$name"
done

echo
echo "== Level 1, its loops and main ops (the whole: stop-after=tile)"
lower tile |
  grep -E 'scf\.(forall|for|yield) |mla\.|linalg\.matmul|maximumf|addf %in, %out|exp2|cmpi sle|divf|parallel_insert' |
  sed -E 's/linalg\.matmul .*ins\(.* : (tensor<[^>]*>), (tensor<[^>]*>)\).*-> (.*)/linalg.matmul \1, \2 -> \3/
    s/ iter_args.*| shared_outs.*| : (tensor|f32|index).*//; s/^ {4}/  /; s/^( *)%[^=]* = /\1/'

echo
echo "== Operands and float64 oracle into $data"
PYTHONPATH=python "${PYTHON:-.venv/bin/python}" "$here/make_data.py" $data
. $data/facts.sh
echo "  $batch, $(du -sh $data | cut -f1)"

echo
echo "== mla-run"
arguments=(--arg "layer_idx=$layer" --arg "scale=$scale")
for name in q input_row_offsets k v buffer_row_offsets kv_blocks lookup_table \
  cache_lengths; do
  arguments+=(--arg "$name=$data/$name.npy")
done
# Two roundings to bf16, of the probabilities and of the output, are 2^-8 each.
$bin/mla-run "$module" --target "$target" "${arguments[@]}" --time --repeat 5 \
  --expect "output=$data/expected_output.npy" \
  --expect "lse=$data/expected_lse.npy" --tolerance 2e-3,8e-3 | tee $data/log |
  sed 's/^/  /'

awk -v flops="$flops" '/^run:/ {
  for (i = 1; i < NF; ++i) if ($i == "best") best = $(i + 1)
  printf "  %.1f GFLOP over visible pairs: %.0f GFLOP/s\n", flops / 1e9, flops / best / 1e6
}' $data/log
