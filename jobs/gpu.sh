#!/usr/bin/env bash
# jobs/gpu.sh [FOLDER]: all that a node with a GPU can tell, in one command: builds with the module
# for CUDA devices, runs the tests that need a GPU (ctest -L gpu) and the benches, and leaves
# FOLDER/log.txt and FOLDER/table.md, which are fit to be sent back (default:
# build/gpu-results/HOST-TIME). Ends with 0 if all went well, 1 if a test or a bench failed, 2 if
# there is no build, and 77 if there is no device. `--rehearse` needs no GPU: it takes the same way
# with kernels executed as PTX, of a few tests and tiny models, in the build that is there.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2

rehearse=0
if [[ ${1:-} == --rehearse ]]; then
  rehearse=1
  shift
fi
if (($# > 1)) || [[ ${1:-} == -* ]]; then
  sed -n '2,7s/^# //p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
folder=${1:-build/gpu-results/$(hostname -s)-$(date -u +%Y%m%d-%H%M%S)}
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit 2
log=$folder/log.txt table=$folder/table.md
: >"$log" && : >"$table" || exit 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_PROC_BIND=false
export PYTHONDONTWRITEBYTECODE=1

say() { printf '%s\n' "$*" | tee -a "$log" >&2; }
row() { printf '%s\n' "$*" >>"$table"; }
logged() { say "+ $*"; "$@" >>"$log" 2>&1; }
ends_with() { say "$2"; say "log and table: $folder"; exit "$1"; }

# What the table's columns say of a value; empty where the command is not there or fails.
first_line() { "$@" 2>/dev/null | head -n 1; }
smi() { first_line nvidia-smi --query-gpu="$1" --format=csv,noheader; }

# Prints what the module is compiled for: the GPUs here that its kernels are for, the oldest first.
# If all are newer than 90, PTX of 90 stands before them, for tests that execute PTX as a 90 does.
# Prints nothing, which means the default, if the driver does not tell, or of older ones alone.
architectures() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    sed -n 's/^\([0-9]*\)\.\([0-9]*\)$/\1\2/p' | sort -nu |
    awk '$1 < 80 { next }
      !found++ { printf "%s", ($1 > 90 ? "90-virtual;" $1 "-real" : $1); next }
      { printf ";%s-real", $1 }'
}

head_of_table() {
  local toolkit
  toolkit=$(first_line sh -c "PATH=\$PATH:\${CUDA_HOME:-/usr/local/cuda}/bin nvcc --version |
    sed -n 's/.*release \([0-9.]*\).*/\1/p'")
  row "# spillway on a GPU"
  row
  ((rehearse)) && row "A rehearsal: kernels were executed as PTX, and no figure is a GPU's." && row
  row "| | |"
  row "| --- | --- |"
  row "| device | $(smi name) |"
  row "| devices | $(nvidia-smi -L 2>/dev/null | grep -c '^GPU') |"
  row "| driver | $(smi driver_version) |"
  row "| power limit, clocks | $(smi power.limit), $(smi clocks.max.sm) |"
  row "| CUDA toolkit | $toolkit |"
  row "| commit | $(first_line git rev-parse HEAD)$([[ -z $(git status --porcelain \
    --untracked-files=no 2>/dev/null) ]] || echo ', changed') |"
  row "| program | $(first_line "$program" --version) |"
  row "| processor | $(first_line sed -n 's/^model name[^:]*: //p' /proc/cpuinfo), $(nproc) cores |"
  row "| date | $(date -u '+%Y-%m-%d %H:%M UTC') |"
  row
}

# Prints a Markdown row for each test of a JUnit file of ctest's.
rows_of_tests() {
  python3 - "$1" <<'END'
import sys
import xml.etree.ElementTree as tree
for case in tree.parse(sys.argv[1]).getroot().iter("testcase"):
    status = {"run": "passed", "fail": "FAILED", "notrun": "skipped"}.get(case.get("status"), "?")
    print(f"| {case.get('name')} | {status} | {float(case.get('time')):.1f} |")
END
}

run_tests() {
  local select=(--label-regex '^gpu$') status=0
  ((rehearse)) && select=(--tests-regex '^(gpu_words|kernels_(rows|sums))_on_ptx$')
  logged ctest --test-dir build --output-on-failure --no-tests=error "${select[@]}" \
    --output-junit "$folder/tests.xml" || status=1
  row "| test | result | s |"
  row "| --- | --- | ---: |"
  rows_of_tests "$folder/tests.xml" >>"$table" || status=1
  row
  if grep -q '| skipped |' "$table"; then  # though there is a device
    say "tests were skipped: see $log"
    status=1
  fi
  return "$status"
}

# bench COMMAND...: its output is a part of the table, what it says beside that goes to the log.
bench() {
  local status=0
  say "+ $*"
  "$@" >>"$table" 2>>"$log" || status=$?
  ((status == 0)) || row "| \`$1\` ended with $status: see log.txt |"
  row
  return "$status"
}

run_benches() {
  local status=0 options=()
  work=$(mktemp -d "${SCRATCH_LOCAL:-${TMPDIR:-/tmp}}/spillway-gpu.XXXXXX") || return 1
  export TMPDIR=$work
  ((rehearse)) && options=(--tiny --steps 4 --drive 64MiB)
  bench tests/bench/gpu.py --spillway "$program" --work "$work" ${options[@]+"${options[@]}"} ||
    status=1
  cp "$work/machine.yaml" "$folder/" 2>>"$log"
  logged "$program" plan "$work/gpu.yaml" --compare --machine "$folder/machine.yaml" \
    model.layers=12 model.hidden=768 model.heads=12 model.vocab=50257 \
    "data.train=$work/tokens.h5" batch.micro=4 || status=1
  if ((rehearse)); then
    row "PyTorch was not asked."
  elif python3 -c 'import torch, transformers; assert torch.cuda.is_available()' 2>>"$log"; then
    bench tests/bench/compare_pytorch.py --device cuda --model gpt2 --sequences 16 \
      --sequence 1024 --steps 12 --activations auto --spillway "$program" || status=1
    bench tests/bench/compare_pytorch.py --device cuda --model gpt-1.5b --sequences 4 \
      --sequence 1024 --steps 8 --activations auto --spillway "$program" || status=1
  else
    row "PyTorch with CUDA and transformers cannot be imported: nothing was measured beside it."
  fi
  return "$status"
}

work=
trap '[[ -z $work ]] || rm -rf "$work"' EXIT
trap 'exit 1' INT TERM  # so that what a job's end interrupts is removed, too
program=build/bin/spillway
if ((rehearse)); then
  program=build/bin/spillway_on_ptx
  export SPILLWAY_STAND_IN_MEMORY=2147483648
else
  # Before a build that takes minutes: without a driver there is no device.
  if [[ ! -e /dev/nvidiactl && ! -e /dev/dxg ]] && ! nvidia-smi -L >>"$log" 2>&1; then
    row "No device: there is no driver of NVIDIA's here. Nothing was built or run."
    ends_with 77 "no device: there is no driver of NVIDIA's here"
  fi
  logged jobs/setup.sh tests || say "setup: something is missing, see $log"
  # The folder may have the module for other GPUs, as jobs/test.sh makes it.
  if ! logged cmake --preset cuda -D "SPILLWAY_CUDA_ARCHITECTURES=$(architectures)" \
    --log-level=WARNING || ! logged jobs/build.sh; then
    tail -n 30 "$log" >&2
    ends_with 2 "no build: what is missing stands above"
  fi
fi
[[ -x $program ]] || ends_with 2 "no build: $program is not there"

said=$("$program" doctor . 2>&1) || true
printf '%s\n' "$said" >>"$log"
said=$(sed -z 's/\n \{20\}/ /g' <<<"$said")  # a long line goes on in the next one
if ! grep -q '^  cuda:0 .* free$' <<<"$said"; then
  why=$(sed -n 's/^  no GPU *//p; s/^  cuda:0 *//p' <<<"$said" | head -n 1)
  row "No device: ${why:-doctor names none}. Nothing was run."
  ends_with 77 "no device: ${why:-doctor names none}"
fi
failed=0
head_of_table
nvidia-smi -q >>"$log" 2>&1 || true
run_tests || failed=1
run_benches || failed=1
((failed == 0)) || ends_with 1 "a test or a bench failed: see $log"
ends_with 0 "all tests passed, all figures are there"
