#!/usr/bin/env bash
# From a fresh checkout to a first result: packages, build, first example, on the
# CPU and, where there is one that we compile for, on the GPU.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
scripts/build.sh release
examples/01-deepseek-v3-prefill/run.sh

# The runtime's own answer: the target of the first device, or why there is none.
answer=$(PYTHONPATH=python .venv/bin/python - <<'END'
import mla
from mla._runtime import TARGETS, device_arch

try:
    arch = device_arch(0)
    print(TARGETS.get(arch, f"device 0 is sm_{arch}"))
except mla.Error as error:
    print(error)
END
)
echo
case $answer in
sm_*)
  echo "== The same on the GPU"
  echo
  TARGET=$answer examples/01-deepseek-v3-prefill/run.sh
  ;;
*) echo "== No GPU to run the same on: $answer" ;;
esac
