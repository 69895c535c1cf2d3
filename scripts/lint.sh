#!/usr/bin/env bash
# clang-tidy over our C++ files with the release preset's compile commands.
# A file is read again only after it, a header of ours that it includes, or
# .clang-tidy has changed; what passed is remembered in build/lint.
set -euo pipefail
cd "$(dirname "$0")/.."

exec "${PYTHON:-python3}" scripts/clang_tidy.py --build build \
  --jobs "${MLA_LINT_JOBS:-2}" "$@"
