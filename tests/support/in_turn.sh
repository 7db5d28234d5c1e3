#!/usr/bin/env bash
# in_turn.sh N COMMAND...: runs the command with the number of this sample's turn of N appended to
# its last word, or once for each turn if the sample is `all` (sample.hpp).
set -euo pipefail
turns=$1
shift
sample=${SPILLWAY_SAMPLE:-0}
if [[ $sample == all ]]; then
  for ((turn = 0; turn < turns; ++turn)); do "${@:1:$#-1}" "${!#}$turn"; done
elif [[ $sample =~ ^[0-9]+$ ]]; then
  "${@:1:$#-1}" "${!#}$((10#$sample % turns))"
else
  echo "SPILLWAY_SAMPLE=$sample is neither a number nor 'all'" >&2
  exit 1
fi
