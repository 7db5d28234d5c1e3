#!/usr/bin/env bash
# clocks.sh SPILLWAY: jobs/slurm/one-node.sh, as it is, where the summary.json of an earlier job is
# younger than this one, as a node whose clock is ahead leaves it: what counts is who wrote it. The
# job's name has what shells and YAML take for more than text.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export SPILLWAY=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir bin scratch
"$SPILLWAY" tokenize --tokenizer byte -o tokens.h5 "$root"/lib/plan/*/*.cpp
sed -e "s|ROOT|$root|" "$here/job.yaml" >in.yaml
printf '#!/bin/sh\necho "$*" >>requeued\n' >bin/scontrol
chmod +x bin/scontrol
export PATH=$work/bin:$PATH SCRATCH_LOCAL=$work/scratch
export SLURM_JOB_NAME=${2:-"a #b"} SLURM_NTASKS=1 SLURM_JOB_ID=1

# job KEYS...: prints its status.
job() {
  local status=0
  bash "$root/jobs/slurm/one-node.sh" in.yaml memory.nvme.size=20MiB run.max_time=none "$@" \
    >>job.out 2>&1 || status=$?
  echo $status
}

fail() {
  cat job.out >&2
  echo "$1" >&2
  exit 1
}

run=runs/$SLURM_JOB_NAME
[[ $(job run.steps=2) == 0 && ! -e requeued ]] || fail "the first job is not done"
[[ -e $run/summary.json ]] || fail "the run is not where its name says"
touch -d "+1 hour" "$run/summary.json"
[[ $(job run.steps=9 run.checkpoint.every=2 debug.fault=kill-rank:6) == 0 ]] ||
  fail "a job whose rank was killed after a checkpoint has failed"
[[ $(cat requeued) == "requeue 1" ]] || fail "it is not requeued: $(cat requeued)"
touch -d "-1 hour" "$run/summary.json"
rm requeued
[[ $(job run.steps=9 run.checkpoint.every=2) == 0 && ! -e requeued ]] ||
  fail "the last job is not done"
grep -q '"exit": 0' "$run/summary.json" || fail "its summary is not there"
