#!/usr/bin/env bash
# Python environment of the benchmarks, benchmarks/venv. PyTorch from PyPI brings
# CUDA along, some 5 GB; for the CPU-only build set first
#   export PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
set -euo pipefail
cd "$(dirname "$0")"

[ -x venv/bin/pip ] || "${PYTHON:-python3}" -m venv venv
venv/bin/pip install --disable-pip-version-check -r requirements.txt
