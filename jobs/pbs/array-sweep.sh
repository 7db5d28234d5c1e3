#!/bin/bash
# One small run for each of some settings, each for as long as it takes, limit after limit:
#     qsub -J 0-3 [-N NAME] [-v input=INPUT,keys="key=value ..."] jobs/pbs/array-sweep.sh
# from the folder that INPUT's paths are relative to. The runs are runs/NAME/0, 1, ...; the same
# command later goes on with them. Other options of qsub's belong into this file: a run that its
# limit has stopped submits it again, alone, as users may not rerun jobs.
#PBS -N sweep
#PBS -l select=1:ncpus=8:mpiprocs=1
#PBS -l walltime=04:00:00
#PBS -j oe
#PBS -r y
##PBS -A ACCOUNT
##PBS -q QUEUE
# -r y: after a failure of the node PBS itself starts the run again.

settings=(                             # a number of -J for each
  "optim.lr=3e-4"
  "optim.lr=6e-4"
  "optim.lr=6e-4 optim.beta2=0.99"
  "optim.lr=1e-3 optim.warmup=1500"
)

# What spillway was built with:
# module load gcc openmpi hdf5         # or: spack env activate spillway
set -euo pipefail
cd "$PBS_O_WORKDIR"
export self=${self:-jobs/pbs/array-sweep.sh}        # this file: a copy says where it lies
cmp -s "$0" "$self" || {
  echo "$self is not this job's script: give it by qsub -v self=FILE, or change the line above" >&2
  exit 2
}
spillway=${SPILLWAY:-build/bin/spillway}
[[ -x $spillway ]] || spillway=${SPILLWAY:-$(command -v spillway || true)}
[[ -x $spillway ]] || {
  echo "no program here: load its module, or say qsub -v SPILLWAY=/path/to/bin/spillway ..." >&2
  exit 2
}
export input=${input:-input/gpt.yaml} keys=${keys:-} index=${index:-${PBS_ARRAY_INDEX:-}}
run_dir=runs/$PBS_JOBNAME/$index       # where the next node sees it, too
scratch=${SCRATCH_LOCAL:-${TMPDIR:-/tmp}}  # a disk of this node, for the spill file, which has
scratch_size=64GiB                     # no name and dies with its rank; or what is free
read -ra overrides <<<"$keys ${settings[$index]}"

latest() { cat "$run_dir/latest" 2>/dev/null || true; }
# Another run's checkpoint may have had the same name.
newest() { latest; cksum "$run_dir/$(latest)/seal" 2>/dev/null || true; }

mkdir -p "$run_dir"
# By this name the attempt knows the summary.json of its own run from an older one.
export SPILLWAY_JOB=${SLURM_JOB_ID:-${PBS_JOBID:-}}.$$.$RANDOM
before=$(newest)

# PBS gives no signal ahead of its limit: run.max_time is when to stop. `qsig -s USR1 JOB` stops a
# run, too.
trap : USR1
status=0
mpirun -n 1 --bind-to none "$spillway" train "$input" \
  run.max_time=auto memory.nvme.path="$scratch" memory.nvme.size="$scratch_size" \
  "${overrides[@]}" run.dir="$run_dir" || status=$?

# What spillway itself has said counts: mpirun may have a status of its own.
if grep -qsF "\"job\": \"$SPILLWAY_JOB\"" "$run_dir/summary.json"; then
  status=$(sed -n 's/^ *"exit": *\([0-9]*\).*/\1/p' "$run_dir/summary.json")
fi
case $status in
  0 | [23457]) exit "$status" ;;       # done, or nothing that another try would mend
esac

# Stopped in time (75), or killed: again from the last checkpoint, if there is a newer one.
if [[ $(newest) == "$before" ]]; then
  echo "status $status before any new checkpoint: not submitted again" >&2
  exit "$status"
fi
echo "status $status at $(latest): submitted again" >&2
variables=input,keys,index
for name in self SPILLWAY SCRATCH_LOCAL; do [[ -z ${!name:-} ]] || variables+=,$name; done
qsub -N "$PBS_JOBNAME" -v "$variables" "$self"
