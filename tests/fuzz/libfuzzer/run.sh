#!/usr/bin/env bash
# run.sh FUZZER TARGET CORPUS SECONDS: starts from sound files and, where there is one, the corpus;
# adds nothing to it, and leaves a finding in the working directory as <target>-crash-...
set -euo pipefail
fuzzer=$1 target=$2 corpus=$3 seconds=$4
export SPILLWAY_FUZZ_TARGET=$target
grown=$(mktemp -d)
trap 'rm -rf "$grown"' EXIT
corpora=("$grown")
[[ -d $corpus ]] && corpora+=("$corpus")
export SPILLWAY_FUZZ_SEEDS=$grown
"$fuzzer" -max_total_time="$seconds" -timeout=600 -rss_limit_mb=2048 -max_len=65536 \
  -print_final_stats=1 -verbosity=0 -artifact_prefix="$target-" "${corpora[@]}"
