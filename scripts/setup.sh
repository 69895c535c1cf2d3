#!/usr/bin/env bash
# Installs what building and testing need: Debian 12 packages (with sudo where
# not root) and .venv with the Python packages of requirements-dev.txt. Does
# nothing, quickly, where all of it is there.
set -euo pipefail
cd "$(dirname "$0")/.."

llvm=22
packages=(
  ccache clang-$llvm clang-format-$llvm clang-tidy-$llvm cmake git g++
  libclang-rt-$llvm-dev libgtest-dev libmlir-$llvm-dev libzstd-dev lld-$llvm
  llvm-$llvm-dev llvm-$llvm-tools mlir-$llvm-tools ninja-build python3
  python3-venv zlib1g-dev
)

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; needed are LLVM, MLIR, Clang and LLD $llvm," \
      "CMake, Ninja, GoogleTest and Python 3.9 or newer with venv"
    return
  fi
  local missing=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  echo "setup: installing ${missing[*]}"
  as_root apt-get update -q
  if [[ $(apt-cache policy libmlir-$llvm-dev) != *"Candidate: "[0-9]* ]]; then
    cat >&2 <<END
setup: no apt source of this machine has LLVM $llvm (libmlir-$llvm-dev).
  Debian 12 ships it in its security suite; /etc/apt/sources.list needs
    deb http://deb.debian.org/debian-security bookworm-security main
  For another release of Debian or Ubuntu see https://apt.llvm.org (the suite
  llvm-toolchain-<release>-$llvm). Then run this script again.
END
    exit 1
  fi
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
}

install_python() {
  local stamp=.venv/requirements.installed
  cmp -s requirements-dev.txt "$stamp" && return
  echo "setup: Python packages into .venv"
  [ -x .venv/bin/pip ] || "${PYTHON:-python3}" -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
  cp requirements-dev.txt "$stamp"
}

install_packages
install_python
