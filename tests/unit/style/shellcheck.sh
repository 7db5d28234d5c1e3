#!/usr/bin/env bash
# With the folder ROOT: every shell script below it passes shellcheck.
set -euo pipefail
command -v shellcheck >/dev/null || { echo "no shellcheck here: skipped"; exit 77; }
cd "$1"
mapfile -t scripts < <(
  find .ci/run app cmake containers docs io jobs lib share tests \
    -name '*.sh' -o -name '*.bash' -o -path .ci/run
)
((${#scripts[@]} > 20)) || { echo "only ${#scripts[@]} scripts are found"; exit 1; }
shellcheck --external-sources "${scripts[@]}"
