#!/usr/bin/env bash
# Installs what the build needs and this machine lacks: on Debian and Ubuntu, as root or with sudo.
# Elsewhere it says what is missing and stops; libraries of modules or Spack are CMake's to find.
# The sources of carquet, which has no packages, come into the build tree.
# `jobs/setup.sh tests`: also what tests alone need, which elsewhere leave out what they lack, and
# CUDA's headers, in the build tree, where no toolkit is seen.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

tables=("$root/cmake/packages.txt")
[[ ${1:-} != tests ]] || tables+=("$root/tests/packages.txt")

table() { grep -hv '^#' "${tables[@]}"; }

is_installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# Prints the command prefix that makes us root; fails where there is none.
become_root() {
  if [[ $(id -u) == 0 ]]; then
    echo env
  elif command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
    echo "sudo env"
  else
    return 1
  fi
}

install_with_apt() {
  local missing=() apt command
  while read -r _ apt _; do
    [[ $apt == - ]] || is_installed "$apt" || missing+=("$apt")
  done < <(table)
  ((${#missing[@]})) || return 0
  read -ra command <<<"$1 DEBIAN_FRONTEND=noninteractive apt-get -q"
  echo "setup: installing ${missing[*]}" >&2
  "${command[@]}" update >&2
  "${command[@]}" install -y --no-install-recommends "${missing[@]}" >&2
}

# Without apt, only the tools are looked for here: a compiler may well come from a module.
require_tools() {
  local missing=() key name apt dnf spack tool
  for key in compiler:c++ cmake:cmake ninja:ninja pkg-config:pkg-config mpirun:mpirun \
             python3:python3; do
    name=${key%%:*} tool=${key#*:}
    command -v "$tool" >/dev/null || missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  echo "setup: missing, and only root on Debian or Ubuntu can have it installed here:" >&2
  printf '  %-14s %-20s %-20s %s\n' "" apt dnf Spack >&2
  while read -r name apt dnf spack; do
    [[ " ${missing[*]} " != *" $name "* ]] ||
      printf '  %-14s %-20s %-20s %s\n' "$name" "$apt" "$dnf" "$spack" >&2
  done < <(table)
  return 1
}

pip_download() {
  python3 -m pip download --quiet --disable-pip-version-check --retries 1 --no-deps \
    --require-hashes "$@" >&2
}

# Where cmake/Parquet.cmake looks for them.
fetch_carquet() {
  local tree=$root/build/_deps/carquet pinned=$root/cmake/carquet.txt new
  ! cmp -s "$pinned" "$tree/pinned.txt" || return 0
  new=$tree.new
  rm -rf "$new"
  mkdir -p "$new"
  if ! pip_download --no-binary carquet --dest "$new" --requirement "$pinned"; then
    echo "setup: carquet is not to be had: tables of Parquet will not be read" >&2
    return 0
  fi
  tar -xzf "$new"/carquet-*.tar.gz -C "$new" --strip-components 1
  rm "$new"/carquet-*.tar.gz
  cp "$pinned" "$new/pinned.txt"
  rm -rf "$tree"
  mv "$new" "$tree"
}

# Where cmake/Cuda.cmake looks for them. They come from wheels; what else is in those is dropped.
fetch_cuda_headers() {
  local tree=$root/build/_deps/cuda-headers new include wheel
  for include in "${CUDA_HOME:-/usr/local/cuda}/include" "$tree/nvidia/cu13/include"; do
    [[ ! -e $include/cuda_runtime_api.h ]] || return 0
  done
  new=$tree.new
  rm -rf "$new"
  mkdir -p "$new"
  if ! pip_download --only-binary :all: --dest "$new" \
    --requirement "$root/cmake/cuda_headers.txt"; then
    echo "setup: CUDA's headers are not to be had: the CUDA backend's tests are left out" >&2
    return 0
  fi
  for wheel in "$new"/*.whl; do
    python3 -m zipfile --extract "$wheel" "$new"
  done
  rm -rf "$new"/*.whl "$new"/nvidia/cu13/lib
  mv "$new" "$tree"
}

if command -v apt-get >/dev/null && prefix=$(become_root); then
  install_with_apt "$prefix"
else
  require_tools
fi
fetch_carquet
[[ ${1:-} != tests ]] || fetch_cuda_headers
