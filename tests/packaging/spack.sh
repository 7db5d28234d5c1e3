#!/usr/bin/env bash
# spack.sh ROOT TOOLS: the recipe follows its rules, each of which bites, and the environments do
# too.
set -euo pipefail
root=$1 tools=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONDONTWRITEBYTECODE=1
python3 "$here/spack_rules.py" "$root"
python3 "$here/spack_rules_bite.py" "$root"

bash "$here/tools.sh" "$tools"
export PYTHONPATH=$tools/python
python3 "$here/spack_environments.py" "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/spack" "$root/cmake" "$root/CMakeLists.txt" "$root/CITATION.cff" "$work"
for mistake in 's/- spillway/- spilway/' 's/- spillway/- spillway+cdua/' 's/ cuda_arch=90//' \
               's/^# One GPU/# Not yet: one GPU/' 's/^    openmpi:/    mpich:/' \
               's/^  specs/  spcs/'; do
  rm -rf "$work/spack/environments"
  cp -r "$root/spack/environments" "$work/spack"
  sed -i "$mistake" "$work"/spack/environments/*.yaml
  if python3 "$here/spack_environments.py" "$work" >"$work/said" 2>&1; then
    echo "environments: not reported: $mistake" >&2
    exit 1
  fi
done
