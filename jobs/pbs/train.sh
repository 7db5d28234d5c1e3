#!/bin/bash
# Trains on one node or several for as long as it takes, limit after limit:
#     qsub [-N NAME] [-v input=INPUT,keys="key=value ..."] jobs/pbs/train.sh
# from the folder that INPUT's paths are relative to, on storage that all nodes share. The run is
# runs/NAME; the same command later goes on with it. Other options of qsub's belong into this file:
# a job that its limit has stopped submits it again, as users may not rerun jobs.
#PBS -N spillway
#PBS -l select=1:ncpus=32:mpiprocs=2   # nodes; a rank for each socket or NUMA domain
#PBS -l place=scatter:excl
#PBS -l walltime=04:00:00
#PBS -j oe
#PBS -r y
##PBS -A ACCOUNT
##PBS -q QUEUE
# -r y: after a failure of a node PBS itself starts the job again.

# What spillway was built with:
# module load gcc openmpi hdf5         # or: spack env activate spillway
set -euo pipefail
cd "$PBS_O_WORKDIR"
export self=${self:-jobs/pbs/train.sh}        # this file: a copy says where it lies
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
export input=${input:-input/gpt.yaml} keys=${keys:-}
run_dir=runs/$PBS_JOBNAME
scratch=${SCRATCH_LOCAL:-${TMPDIR:-/tmp}}  # a disk of each node, for the spill files, which have no
scratch_size=256GiB                    # names and die with their ranks; or what is free, per rank
ranks=$(wc -l <"$PBS_NODEFILE")
read -ra overrides <<<"$keys"

latest() { cat "$run_dir/latest" 2>/dev/null || true; }
# Another run's checkpoint may have had the same name.
newest() { latest; cksum "$run_dir/$(latest)/seal" 2>/dev/null || true; }

mkdir -p "$run_dir"
# By this name the attempt knows the summary.json of its own run from an older one.
export SPILLWAY_JOB=${SLURM_JOB_ID:-${PBS_JOBID:-}}.$$.$RANDOM
echo "$SPILLWAY_JOB" >"$run_dir/job-began"
before=$(newest)
mpirun --hostfile "$PBS_NODEFILE" --map-by ppr:1:node \
  grep -qxF "$SPILLWAY_JOB" "$run_dir/job-began" || {
  echo "not every node sees $PWD/$run_dir, or one could not be asked (see above): submit from" \
    "a folder that they share" >&2
  exit 2
}

# PBS gives no signal ahead of its limit: run.max_time is when to stop. `qsig -s USR1 JOB` stops a
# run, too. Ranks part the cores of their node among themselves.
trap : USR1
status=0
mpirun --hostfile "$PBS_NODEFILE" -n "$ranks" --bind-to none "$spillway" train "$input" \
  run.max_time=auto memory.nvme.path="$scratch" memory.nvme.size="$scratch_size" \
  "${overrides[@]}" run.dir="$run_dir" || status=$?

# What spillway itself has said counts: mpirun may have a status of its own.
if grep -qsF "\"job\": \"$SPILLWAY_JOB\"" "$run_dir/summary.json"; then
  status=$(sed -n 's/^ *"exit": *\([0-9]*\).*/\1/p' "$run_dir/summary.json")
fi
case $status in
  0 | [23457]) exit "$status" ;;       # done, or nothing that another try would mend
esac

# Stopped in time (75), or a rank was lost: again from the last checkpoint, if there is a newer one.
if [[ $(newest) == "$before" ]]; then
  echo "status $status before any new checkpoint: not submitted again" >&2
  exit "$status"
fi
echo "status $status at $(latest): submitted again" >&2
variables=input,keys
for name in self SPILLWAY SCRATCH_LOCAL; do [[ -z ${!name:-} ]] || variables+=,$name; done
qsub -N "$PBS_JOBNAME" -v "$variables" "$self"
