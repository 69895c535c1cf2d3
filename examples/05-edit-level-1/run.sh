#!/usr/bin/env bash
# Level 1 as a place to work: the tiled loops of a prefill are printed, a soft cap
# of the scores is put into them, which no attribute of mla.prefill offers, and the
# edited text is compiled and run. It stays on the fast path: the rest of the
# pipeline sees one more linalg op on a tile of scores.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

work=build/examples/05-edit-level-1
python=${PYTHON:-.venv/bin/python}
$python "$here/make_data.py" $work

build/bin/mla-opt "$here/prefill.mlir" --mla-lower="stop-after=tile" >$work/level-1.mlir
$python "$here/add_soft_cap.py" <$work/level-1.mlir >$work/capped.mlir
diff $work/level-1.mlir $work/capped.mlir | grep '^>' | sed -n 1,11p || true

# run FILE EXPECTED: the printed modules have numbers where prefill.mlir has names.
run() {
  local arguments=() names=(q offsets k v k_rope scale) i
  for i in "${!names[@]}"; do
    arguments+=(--arg "arg$i=$work/${names[$i]}.npy")
  done
  build/bin/mla-run "$work/$1" "${arguments[@]}" \
    --expect "arg6=$work/$2.npy" --tolerance 5e-4
}

echo
echo "level 1 as printed, against plain attention:"
run level-1.mlir expected
echo "with the soft cap, against numpy with the soft cap:"
run capped.mlir expected_capped
echo "with the soft cap, against plain attention (has to differ):"
! run capped.mlir expected
