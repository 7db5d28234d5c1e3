#!/usr/bin/env bash
# format.sh ROOT TOOLS: every source below ROOT is as the clang-format that is installed in TOOLS
# would write it: versions differ, and this one decides.
set -euo pipefail
format=$2/python/clang_format/data/bin/clang-format
cd "$1"
mapfile -t sources < <(
  find app io lib modules tests -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh'
)
((${#sources[@]} > 700)) || { echo "only ${#sources[@]} sources are found"; exit 1; }
printf '%s\n' "${sources[@]}" | xargs -P 2 -n 50 "$format" --dry-run --Werror
