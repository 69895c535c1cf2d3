#!/usr/bin/env bash
# Formats C++ and Python sources; with --check only says what is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

clang_format=$(command -v clang-format-22 || command -v clang-format)
ruff=.venv/bin/ruff
mapfile -t cpp < <(git ls-files --cached --others --exclude-standard -- \
  '*.c' '*.cpp' '*.h')

if [ "${1:-}" = --check ]; then
  status=0
  "$clang_format" --dry-run --Werror "${cpp[@]}" || status=1
  $ruff format --check . || status=1
  exit $status
fi
"$clang_format" -i "${cpp[@]}"
$ruff format .
