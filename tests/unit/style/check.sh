#!/usr/bin/env bash
# check.sh ROOT [FLOORS]: checks the tree at ROOT. FLOORS is the folder that the configure wrote;
# without it, includes are not held against the floors.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
floors=${2:+$(cd "$2" && pwd)}
cd "$1"

# Everything that belongs to the project: no build trees, no results, no fuzzer's finds, nothing
# hidden but .ci.
mapfile -t files < <(
  find . \( -path './.*' -not -path './.ci*' -o -path './build*' -o -path ./runs -o -path ./tokens \
    -o -path '*/corpus/*' -type d -o -name __pycache__ \) -prune -o -type f -print |
    sed 's|^\./||' | sort
)

kinds='cpp|hpp|h|c|cu|cuh|map|py|sh|awk|cmake|in|ya?ml|md|json|txt|cff'
# On its own, so that rules which cannot be read end this script.
in_lines=$(
  printf '%s\n' "${files[@]}" | grep -E "\.($kinds)\$|^\.ci/run\$" |
    xargs awk -v names="$here/library_names.txt" -v floors="$floors" -f "$here/line_rules.awk"
)
in_folders=$(
  for folder in $(printf '%s\n' "${files[@]}" | grep / | sed 's|/[^/]*$||' | sort -u); do
    [[ $folder == .ci || -e $folder/README.md ]] ||
      echo "$folder: readme: a folder without README.md"
  done
)
[[ -z $in_lines$in_folders ]] && exit 0
printf '%s\n' "$in_lines" "$in_folders" | sed '/^$/d'
exit 1
