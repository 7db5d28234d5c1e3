#!/usr/bin/env bash
# With the folder ROOT: every shell script below it passes shellcheck.
set -euo pipefail
command -v shellcheck >/dev/null || { echo "no shellcheck here: skipped"; exit 77; }
cd "$1"
mapfile -t scripts < <(
  find .ci/run app cmake io jobs lib tests -name '*.sh' -o -path .ci/run
)
shellcheck --external-sources "${scripts[@]}"
