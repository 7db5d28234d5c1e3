#!/usr/bin/env bash
# equal_parts.sh: what each job script holds a copy of is the same in all: how a program is found,
# where the run stands, which statuses are final, and that what srun starts gets the script's
# environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# part FIRST LAST FILE: its lines from one that begins so to the next that is so; without comments,
# and with one word for the command that submits.
part() {
  awk -v first="$1" -v last="$2" '
    index($0, first) == 1 {inside = 1}
    inside {print}
    $0 == last {inside = 0}' "$3" |
    sed -E 's/ +#.*//; s/(SPILLWAY=[^ ]*) sbatch|qsub -v (SPILLWAY=[^ ]*)/submit with \1\2/
      s/requeued|submitted again/tried again/'
}

failed=0
first=jobs/slurm/one-node.sh
while IFS='|' read -r begin end; do
  [[ -n $(part "$begin" "$end" $first) ]] || { echo "$first has no '$begin'" >&2; failed=1; }
  for script in jobs/slurm/*.sh jobs/pbs/*.sh; do
    diff <(part "$begin" "$end" $first) <(part "$begin" "$end" "$script") >&2 || {
      echo "$script differs from $first from '$begin' to '$end'" >&2
      failed=1
    }
  done
done <<'PARTS'
[[ -x $spillway ]]|}
latest()|export SPILLWAY_JOB=${SLURM_JOB_ID:-${PBS_JOBID:-}}.$$.$RANDOM
if grep -qsF|esac
if [[ $(newest)|fi
PARTS
if grep -nE '^ *srun ' jobs/slurm/*.sh | grep -v 'srun --export=ALL '; then
  echo "this srun passes on only what sbatch was told to export" >&2
  failed=1
fi
exit $failed
