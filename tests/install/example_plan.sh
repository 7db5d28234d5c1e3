#!/usr/bin/env bash
# example_plan.sh BUILD ROOT GENERATOR: docs/example-plan finds the installed package, links neither
# MPI nor Kokkos, and plans GPT-2 for a machine that is not here.
# shellcheck disable=SC1091,SC2154  # install.sh sets work and prefix
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/install.sh"
root=$2 generator=$3

# No installed header includes one that is not.
while read -r header; do
  if [[ ! -e $prefix/include/spillway/$header ]]; then
    echo "an installed header includes $header, which is not installed" >&2
    exit 1
  fi
done < <(grep -rhoE '^#include "[^"]+' "$prefix/include/spillway" | sed 's/.*"//' | sort -u)

configure=(cmake -S "$root/docs/example-plan" -B "$work/build" -G "$generator"
  -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug --log-level=WARNING)
if ! { "${configure[@]}" && cmake --build "$work/build"; } >"$work/log" 2>&1; then
  cat "$work/log" >&2
  exit 1
fi
if ldd "$work/build/example_plan" | grep -iE 'libmpi|kokkos|hdf5|dnnl|uring'; then
  echo "the deciding column leans on what does the work" >&2
  exit 1
fi
inputs=$prefix/share/spillway/input
"$work/build/example_plan" "$inputs/gpt.yaml" "$inputs/machines/h100.yaml" >"$work/plan"
head -n 1 "$work/plan"
grep -q '^Fits with .* nothing leaves the device' "$work/plan"
# The program's own plan for micro-batches of the same size differs by the scratch of its kernels
# alone.
(cd "$work" && "$prefix/bin/spillway" plan "$inputs/gpt.yaml" model.vocab=50257 \
  data.valid=none batch.micro=4 --machine "$inputs/machines/h100.yaml") >"$work/own"
python3 - "$work/plan" "$work/own" <<'CHECK'
import re, sys
peaks = []
for file in sys.argv[1:]:
    row = re.search(r"device memory +([\d.]+) GiB +([\d.]+) GiB", open(file).read())
    peaks.append((float(row[1]), float(row[2])))
(budget, peak), (own_budget, own_peak) = peaks
print(f"device peak {peak} GiB, with the kernels' scratch {own_peak} GiB")
assert budget == own_budget and 0.8 * own_peak < peak <= own_peak, peaks
CHECK
