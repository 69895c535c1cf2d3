#!/usr/bin/env bash
# From a fresh checkout to a first result: packages, build, first example.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
scripts/build.sh release
examples/01-deepseek-v3-prefill/run.sh
