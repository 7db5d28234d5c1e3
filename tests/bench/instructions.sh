#!/bin/sh
# Instructions per item of what spillway_bench_engine and, per plan, spillway_bench_estimates
# measure, counted by callgrind: the same at
# every hour and nearly on every machine. Needs valgrind, and a build without instructions that it
# does not know (SPILLWAY_NATIVE=OFF).
#   tests/bench/instructions.sh build
set -eu
build=$1
bench=spillway_bench_engine
out=$(mktemp)
trap 'rm -f "$out" "$out.log"' EXIT

count() {  # benchmark, the function whose instructions are counted
  OMP_NUM_THREADS=1 OMP_PROC_BIND=false valgrind --tool=callgrind --callgrind-out-file="$out" \
    --collect-atstart=no --toggle-collect="$2" "$build/bin/$bench" \
    --benchmark_filter="^$1/iterations" >"$out.log" 2>&1 || { cat "$out.log" >&2; exit 1; }
  awk -v total="$(awk '/^summary:|^totals:/ {print $2; exit}' "$out")" -v name="$1" '
    /iterations:/ {
      for (i = 1; i <= NF; i++) if ($i ~ /^items=/) items = substr($i, 7)
      if (items ~ /k$/) items = 1000 * substr(items, 1, length(items) - 1)
      printf "%-20s %6d items %8.0f instructions an item\n", name, items, total / $6 / items
    }' "$out.log"
}

count step/one_lane/48 'spillway::Engine::run_step(*'
count step/recompute/48 'spillway::Engine::run_step(*'
bench=spillway_bench_estimates
for what in bytes bound step search; do
  count estimate/$what/1/1 "*${what}_once*"
done
# The plans that are looked at, and the instructions of a whole answer for each of them.
for ranks in 8 64 512 4096; do
  count answer/2/$ranks '*solve_once*'
done
bench=spillway_bench_engine
count plan/48 '*plan_once*'
count prove/48 '*prove_once*'
