#!/usr/bin/env bash
# Everything a change has to pass, quick parts first. The last line sums the lit
# and unit tests, the Python tests and the checks of this script:
#     N passed, N failed
set -uo pipefail
cd "$(dirname "$0")/.."

results=$PWD/build/results
passed=0
failed=0

note() { # note NAME STATUS SECONDS
  printf '%-6s %s (%s s)\n' "$2" "$1" "$3"
}

# check NAME COMMAND...: one check, passed if the command exits 0.
check() {
  local name=$1 start=$SECONDS
  shift
  printf -- '--- %s\n' "$name"
  if "$@"; then
    passed=$((passed + 1))
    note "$name" ok $((SECONDS - start))
  else
    failed=$((failed + 1))
    note "$name" FAILED $((SECONDS - start))
    return 1
  fi
}

# suite NAME COMMAND...: a test runner that leaves JUnit files named NAME*.xml in
# $results. No file, no test, or an exit status that the file does not explain
# is a failure of its own.
suite() {
  local name=$1 start=$SECONDS status=0 counts p f
  shift
  printf -- '--- %s\n' "$name"
  "$@" || status=$?
  counts=$(python3 scripts/count_results.py "$results/$name"*.xml) || counts='0 0'
  read -r p f <<<"$counts"
  if [ "$f" -eq 0 ] && { [ "$p" -eq 0 ] || [ $status -ne 0 ]; }; then
    f=1
  fi
  passed=$((passed + p))
  failed=$((failed + f))
  printf '%s: %d passed, %d failed (%d s)\n' "$name" "$p" "$f" $((SECONDS - start))
}

finish() {
  printf '%d passed, %d failed\n' $passed $failed
  [ $failed -eq 0 ]
  exit
}

lit() {
  local program
  program=$(sed -n 's/^LLVM_EXTERNAL_LIT:[A-Z]*=//p' build/CMakeCache.txt)
  MLA_OPT_CHECK_IR_ROUNDTRIP=1 "$program" -q \
    --xunit-xml-output="$results/lit.xml" build/test
}

unit() {
  local program status=0
  for program in build/unittests/*Tests; do
    "$program" --gtest_brief=1 \
      --gtest_output="xml:$results/unit-$(basename "$program").xml" || status=1
  done
  return $status
}

file_sizes() {
  git ls-files -- '*.c' '*.cpp' '*.h' '*.td' '*.py' | xargs wc -l |
    awk '$2 != "total" && $1 > 800 { print $2 ": " $1 " lines"; bad = 1 }
         END { exit bad }'
}

check setup scripts/setup.sh || finish
rm -rf "$results"
mkdir -p "$results"
check ruff .venv/bin/ruff check --quiet .
check format scripts/format.sh --check
check file-sizes file_sizes
check build scripts/build.sh release || finish
suite unit unit
suite lit lit
suite pytest .venv/bin/python -m pytest -q --junitxml="$results/pytest.xml"
check docs scripts/update-docs.sh --check
check consumer scripts/test-consumer.sh
check lint scripts/lint.sh
check wheel scripts/test-wheel.sh
finish
