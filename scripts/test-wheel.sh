#!/usr/bin/env bash
# Builds the wheel and runs Python tests against it in an environment that has
# nothing else of this checkout: those on loading, interface, errors, random
# shapes, disk cache. The rest says nothing more about a wheel than about the build tree.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

work=$root/build/wheel
rm -rf "$work"
mkdir -p "$work"
.venv/bin/pip wheel --quiet --disable-pip-version-check --no-deps \
  --wheel-dir "$work" .
wheel=$(ls "$work"/mla-*-py3-none-*.whl)
echo "$(basename "$wheel"): $(du -h "$wheel" | cut -f1)"

"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check \
  "$wheel" pytest hypothesis

# The libraries bring their LLVM along and show only the C API.
libs=$("$work/venv/bin/python" -c \
  'import mla, pathlib; print(pathlib.Path(mla.__file__).parent / "_lib")')
if ldd "$libs/libMLACompiler.so" | grep -E 'libLLVM|libMLIR|not found'; then
  echo "libMLACompiler.so is not self-contained" >&2
  exit 1
fi
if nm -D --defined-only "$libs/libMLACompiler.so" | awk '$3 !~ /^mla/' | grep .; then
  echo "libMLACompiler.so exports more than the C API" >&2
  exit 1
fi

# One release number everywhere.
"$work/venv/bin/python" - <<'END'
import importlib.metadata
import mla._capi

versions = {
    importlib.metadata.version("mla"),
    mla.__version__,
    mla._capi.library().mlaVersion().decode(),
}
assert len(versions) == 1, f"package, module and library disagree: {versions}"
END

cp -r python/tests "$work/tests"
cd "$work"
# -c: not the settings of this checkout, which put its python/ on the path.
env -u PYTHONPATH venv/bin/python -m pytest -q -c /dev/null --rootdir . \
  -p no:cacheprovider tests/test_{isolation,module,errors,properties,disk_cache}.py
