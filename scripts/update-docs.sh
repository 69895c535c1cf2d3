#!/usr/bin/env bash
# Regenerates docs/Dialects and docs/Passes from the .td files; with --check
# only says whether the committed pages are up to date.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh release mla-doc
status=0
for folder in Dialects Passes; do
  if [ "${1:-}" = --check ]; then
    diff -ruN "docs/$folder" "build/docs/$folder" || status=1
  else
    rm -rf "docs/$folder"
    mkdir -p docs
    cp -r "build/docs/$folder" "docs/$folder"
  fi
done
[ $status -eq 0 ] || echo "docs are stale: run scripts/update-docs.sh" >&2
exit $status
