#!/usr/bin/env bash
# jobs/seconds.sh [build directory]: what the suite's last run and the build took, a line for each
# test and each target, the slowest first. Seconds of a target are those of all its compiler runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build}

by_seconds() { sort -k1,1nr -k2,2 | awk '{ printf "%8.1f  %s\n", $1, $2; sum += $1 }
  END { printf "%8.1f  all %d\n", sum, NR }'; }

echo "# tests"
sed -n 's/.*<testcase name="\([^"]*\)".* time="\([^"]*\)".*/\2 \1/p' "$build/tests.xml" | by_seconds
echo "# targets"
# Of an output that was made again only the last line is of the build as it is.
awk -F '\t' '!/^#/ { took[$4] = ($2 - $1) / 1000 }
  END {
    for (output in took) {
      target = output
      if (!sub(/\.dir\/.*/, "", target)) continue
      sub(/.*CMakeFiles\//, "", target)
      seconds[target] += took[output]
    }
    for (target in seconds) print seconds[target], target
  }' "$build/.ninja_log" | by_seconds
