#!/usr/bin/env bash
# containers.sh ROOT: the recipes in containers/ follow their rules, each of which bites.
set -euo pipefail
root=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONDONTWRITEBYTECODE=1
python3 "$here/container_rules.py" "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root"/{app,io,lib,cmake,CMakeLists.txt,CITATION.cff} "$work"
while read -r file mistake; do
  rm -rf "$work/containers"
  cp -r "$root/containers" "$work"
  sed -i "$mistake" "$work/containers/$file"
  if python3 "$here/container_rules.py" "$work"; then
    echo "not reported: $mistake in $file" >&2
    exit 1
  fi
done <<'MISTAKES' >/dev/null
Dockerfile s/SPILLWAY_NATIVE/SPILLWAY_NATIV/
Dockerfile s/SPILLWAY_NATIVE=OFF/SPILLWAY_CUDA=ON/
Dockerfile.cuda s/-D.SPILLWAY_CUDA=ON//
Dockerfile.cuda s/there.is.no.driver:.|//
Dockerfile.cuda s/libcublas-13-0/libcublas-12-9/
spillway.def s/modules//
MISTAKES
