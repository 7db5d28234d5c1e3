#!/usr/bin/env bash
# What storage gives to fio (direct I/O, 1 MiB at a time, 32 under way, as the spill file's pieces)
# and, in the same run and alternating, to the spill file; prints a Markdown table of medians, GB/s.
#   tests/bench/fio.sh DIRECTORY [build/bin/spillway_bench_spill]
# ENGINE (io_uring, or libaio), GIB (4) and ROUNDS (3) come from the environment. Needs fio, and
# space for a file of GIB, for three with the spill file. A first pass over each is not counted.
#
# fio runs twice: from small pages, and from huge ones, which the C library gives it when asked
# (glibc 2.35 and later) and the spill file's memory has. A device that takes fewer segments a
# request than 1 MiB has small pages (max_segments, below 256) cuts each such transfer in two.
set -euo pipefail
directory=$1
spill=${2:-}
engine=${ENGINE:-io_uring} gib=${GIB:-4} rounds=${ROUNDS:-3}
work=$(mktemp -d -p "$directory")
trap 'rm -rf "$work"' EXIT

fio_gbps() {  # 0 or 1: huge pages; write, read or rw. Fields 7 and 48: KiB/s read and written
  GLIBC_TUNABLES=glibc.malloc.hugetlb=$1 fio --name=bench --filename="$work/fio" --rw="$2" \
    --ioengine="$engine" --direct=1 --bs=1M --iodepth=32 --size="${gib}G" --minimal \
    --terse-version=3 | awk -F';' '{printf "%.3f", ($7 + $48) * 1024 / 1e9}'
}

measure_fio() {
  echo "fio, $engine, $2|$(fio_gbps "$1" write)|$(fio_gbps "$1" read)|$(fio_gbps "$1" rw)"
}

measure_spill() {  # a line for each of checksums true and false
  local rate='([0-9.]+)'
  "$spill" "$work" "$gib" 1 | sed -E 's/.*"checksums": (\w+), "backend": "([^"]*)".*'\
"\"write_gbps\": $rate, \"read_gbps\": $rate, \"both_gbps\": $rate.*"\
'/spill file, \2, checksums \1|\3|\4|\5/'
}

median() {
  sort -n | awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'
}

fio_gbps 1 write >"$work/first"
for ((round = 0; round < rounds; round++)); do
  measure_fio 0 "small pages"
  measure_fio 1 "huge pages"
  [[ -z $spill ]] || measure_spill
done | tee /dev/stderr >"$work/rows"

echo "| $gib GiB, $rounds rounds, medians | write, GB/s | read, GB/s | both together, GB/s |"
echo "| --- | --- | --- | --- |"
cut -d'|' -f1 "$work/rows" | awk '!seen[$0]++' | while read -r name; do
  printf '| %s |' "$name"
  for column in 2 3 4; do
    rate=$(grep -F "$name|" "$work/rows" | cut -d'|' -f"$column" | median)
    LC_ALL=C printf ' %.2f |' "$rate"
  done
  echo
done
