#!/usr/bin/env bash
# cuda_module.sh BUILD ON|OFF: an installed program opens the module for CUDA devices that is
# installed beside it (ON: the build has one), and says that it is built for CPUs where there is
# none. The module finds CUDA's libraries by itself.
# shellcheck disable=SC1091,SC2154  # install.sh sets work and prefix
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/install.sh"
says() {
  "$prefix/bin/spillway" doctor "$work" >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
  grep -qE "$1" "$work/said" || {
    echo "doctor does not say '$1':" >&2
    grep -A 3 '^devices' "$work/said" >&2
    exit 1
  }
}

module=$(find "$prefix" -name spillway_cuda.so)
if [[ $2 == ON ]]; then
  loader=$(readelf --program-headers "$prefix/bin/spillway" |
    sed -n 's/.*interpreter: \(.*\)\]/\1/p')
  if env -u LD_LIBRARY_PATH "$loader" --inhibit-cache --list "$module" | grep 'libcu.*not found' >&2
  then
    echo "the module finds them only with LD_LIBRARY_PATH, or where the system looks" >&2
    exit 1
  fi
  # Where there is a driver CUDA names its GPUs, or says why there is none.
  says '^  (no GPU +(there is no driver: |CUDA says: )|cuda:0 )'
  mv "$module" "$module.away"
elif [[ -n $module ]]; then
  echo "a build without the module installs $module" >&2
  exit 1
fi
says '^  no GPU +this spillway is built for CPUs'
