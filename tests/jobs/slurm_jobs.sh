#!/usr/bin/env bash
# slurm_jobs.sh SPILLWAY: the scripts of jobs/slurm, as they are, on a Slurm of one node. Each job
# is disturbed in a way of its own, all at the same time, must have been requeued, must come to its
# end and must have the bits of a run beside them that nothing disturbs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export SPILLWAY=$1
work=$(mktemp -d)
# shellcheck source=tests/jobs/cluster.sh
. "$here/cluster.sh"

declare -A job=()
keys=
whole=

tidy() {
  status=$?
  [[ -z $whole ]] || { kill "$whole" && wait "$whole"; } 2>/dev/null || true
  stop_cluster
  if ((status != 0 && status != 77)); then
    tail -n 40 "$work"/*.out "$work"/slurm/*.log || true
  fi
  rm -rf "$work"
}
trap tidy EXIT

fail() {
  echo "$1" >&2
  exit 1
}

start_cluster "$work/slurm" || exit 77
cd "$work"
mkdir scratch
export SCRATCH_LOCAL=$work/scratch
"$SPILLWAY" tokenize --tokenizer byte -o tokens.h5 "$root"/lib/plan/*/*.cpp

# input NAME: endless, until end_soon gives it a last step.
input() {
  sed -e "s|ROOT|$root|" "$here/job.yaml" >"$1.yaml"
}

steps_of() { grep -c loss_hex "runs/$1/metrics.jsonl" 2>/dev/null || true; }
has_steps() { (($(steps_of "$1") + 0 >= $2)); }
says() { grep -q "$2" "$1.out" 2>/dev/null; }

# submit NAME SCRIPT [sbatch options...]: with NAME.yaml and $keys; spilling, unlike the whole run,
# whose bits are the same.
submit() {
  [[ -e $1.yaml ]] || input "$1"
  job[$1]=$(sbatch --parsable -J "$1" -o "%x.out" --time=2 "${@:3}" "$root/jobs/slurm/$2" \
    "$1.yaml" plan.activations=nvme run.checkpoint.every=2 $keys)
}

# The next attempt reads it; the one that is over had what it was started with. Should the next one
# have begun already, it is stopped in time, and the one after that finds its work done.
end_soon() {
  local last
  last=$(cut -d- -f2 "runs/$1/latest")
  sed -i "s/steps: 1000000/steps: $((last + 3))/" "${2:-$1}.yaml"
}

field() { scontrol show job -o "$1" | grep -o " $2=[^ ]*" | cut -d= -f2; }
has_ended() { [[ $(field "$1" JobState) =~ ^(COMPLETED|FAILED|TIMEOUT|CANCELLED|NODE_FAIL)$ ]]; }

# The process of one rank, in the step that srun made last.
a_rank_of() {
  scontrol listpids "${job[$1]}" | awk '$3 ~ /^[0-9]+$/ && $4 == 0 {pid = $1} END {print pid}'
}

# expect_whole NAME RUN: the job was requeued, came to its end, and its bits show no trace of that.
expect_whole() {
  local id=${job[$1]}
  [[ $1 == "$2" ]] || id+=_${2#*/}
  within 1200 has_ended "$id" || fail "$2: $(scontrol show job -o "$id")"
  [[ $(field "$id" JobState) == COMPLETED ]] || fail "$2: is $(field "$id" JobState)"
  (($(field "$id" Restarts) >= 1)) || fail "$2: was not requeued"
  within 1200 has_steps whole "$(steps_of "$2")" || fail "the whole run lags behind"
  python3 "$here/same_bits.py" "runs/$2" runs/whole
  grep -q "path: $SCRATCH_LOCAL" "runs/$2/config.yaml" || fail "$2: spilled to another place"
}

input whole
mpirun -n 2 --oversubscribe --bind-to none "$SPILLWAY" train whole.yaml run.dir=runs/whole \
  >whole.out 2>&1 &
whole=$!

# One is stopped by the signal ahead of its limit, which its script passes on to mpirun's ranks; one
# by what it hears of its limit, before any signal.
keys=run.max_time=10m  # beyond its limit; but nobody may be left to enforce that
submit limit one-node.sh --time=1 --signal=B:USR1@20
keys=
# Its sbatch exports little, which holds for srun, too, unless the script asks for more.
submit auto many-nodes.sh --nodes=1 --time=1 --signal=USR1@1 --export=SPILLWAY,SCRATCH_LOCAL
# One loses a rank, once to a wish to stop and once for good; for whom Slurm signals too late.
submit one-rank many-nodes.sh --nodes=1 --signal=USR1@1
# Of two in an array, one gets the signal as --signal sends it: its ranks, not its script.
submit sweep array-sweep.sh --array=0-1 -n 2 --cpus-per-task=1 --output=%x-%a.out --signal=USR1@1
# One cannot work however often it is tried.
input wrong
sed -i 's/heads: 2/heads: 3/' wrong.yaml
submit wrong one-node.sh

within 1200 has_steps one-rank 2 || fail "one-rank: no steps"
kill -USR1 "$(a_rank_of one-rank)"
within 1200 has_steps sweep/0 2 || fail "sweep: no steps"
within 1200 has_steps sweep/1 2 || fail "sweep: no steps"
scancel --signal=USR1 "${job[sweep]}_0"

within 1200 says sweep-0 "status 75 .* requeued" || fail "sweep: not stopped"
end_soon sweep/0 sweep
within 1200 says one-rank "status 75 .* requeued" || fail "one-rank: not all have stopped"
within 1200 has_steps one-rank $(($(steps_of one-rank) + 4)) || fail "one-rank: does not go on"
kill -KILL "$(a_rank_of one-rank)"
within 1200 says one-rank "status \(137\|6\) .* requeued" || fail "one-rank: its loss is not seen"
end_soon one-rank
within 1200 says limit "status 75 .* requeued" || fail "limit: not stopped in time"
end_soon limit
within 1200 says auto "status 75 .* requeued" || fail "auto: does not know its limit"
end_soon auto
says auto "\(squeue\|Slurm\) says that this job ends in" ||
  fail "auto: has not heard of its limit"

for name in sweep/0 one-rank limit auto; do expect_whole "${name%/*}" "$name"; done
# An attempt that found its work done wrote no summary: the one before it did.
grep -qF "\"job\": \"${job[auto]}." runs/auto/summary.json ||
  fail "auto: its ranks have not the environment of their script"
grep -q 'lr: 0.0006' runs/sweep/1/config.yaml || fail "sweep: the second has the first's settings"
within 1200 has_ended "${job[wrong]}" || fail "wrong: does not end"
[[ $(field "${job[wrong]}" ExitCode) == 2:0 ]] || fail "wrong: $(field "${job[wrong]}" ExitCode)"
[[ $(field "${job[wrong]}" Restarts) == 0 ]] || fail "wrong: was requeued"
