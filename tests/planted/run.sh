#!/usr/bin/env bash
# run.sh PATCH...: plants each fault alone in this clean tree, builds, and says which tests see it.
# Unit tests are asked first, the others only where those saw nothing. The tree is as it was then.
set -euo pipefail
patches=()
for patch in "$@"; do patches+=("$(realpath "$patch")"); done
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ -z $(git status --porcelain --untracked-files=no) ]] || {
  echo "run.sh: commit first" >&2
  exit 2
}
trap 'git checkout --quiet -- .' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_PROC_BIND=false

# Prints up to three tests that fail among those that ctest's arguments choose; none: exit 1.
failing() {
  local log=build/planted.log
  ctest --test-dir build --stop-on-failure --no-tests=error --parallel "$(nproc)" "$@" \
    >"$log" 2>&1 || true
  sed -n '/(Skipped)\|(Disabled)/d; s/^\t *[0-9]* - \([^ ]*\) (.*/\1/p' "$log" |
    head -n 3 | paste -sd ' ' | grep .
}

for patch in "${patches[@]}"; do
  git apply "$patch"
  if ! cmake --build build --parallel "$(nproc)" >build/planted.log 2>&1; then
    verdict="does not compile"
  elif seen=$(failing --label-regex '^unit$'); then
    verdict="killed by $seen"
  elif seen=$(failing --label-exclude '^(unit|long)$'); then
    verdict="killed by $seen"
  else
    verdict="SURVIVED"
  fi
  echo "$(basename "$patch" .patch): $verdict"
  git checkout --quiet -- .
done
