#!/bin/bash
# Trains on several nodes for as long as it takes, limit after limit:
#     sbatch [-J NAME] [-N NODES] [-A ACCOUNT] [-p PARTITION] jobs/slurm/many-nodes.sh \
#         [INPUT [key=value ...]]
# from the folder that INPUT's paths are relative to, on storage that all nodes share. The run is
# runs/NAME; the same command later goes on with it.
#SBATCH --job-name=spillway
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=2            # a rank for each socket or NUMA domain
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=04:00:00
#SBATCH --signal=USR1@300              # to srun's ranks; Slurm may be a minute early
#SBATCH --requeue                      # after a failure of a node, too
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

# What spillway was built with, unless sbatch is called where that is loaded:
# module load gcc openmpi hdf5         # or: spack env activate spillway
set -euo pipefail
spillway=${SPILLWAY:-build/bin/spillway}
[[ -x $spillway ]] || spillway=${SPILLWAY:-$(command -v spillway || true)}
[[ -x $spillway ]] || {
  echo "no program here: load its module, or say SPILLWAY=/path/to/bin/spillway sbatch ..." >&2
  exit 2
}
input=${1:-input/gpt.yaml}
run_dir=runs/$SLURM_JOB_NAME
mpi=${SRUN_MPI-pmix}                   # srun --mpi=list names others; pmi2 for MPICH and Intel MPI;
                                       # empty: srun's own default
scratch=${SCRATCH_LOCAL:-${TMPDIR:-/tmp}}  # a disk of each node, for the spill files, which have no
scratch_size=256GiB                    # names and die with their ranks; or what is free, per rank

latest() { cat "$run_dir/latest" 2>/dev/null || true; }
# Another run's checkpoint may have had the same name.
newest() { latest; cksum "$run_dir/$(latest)/seal" 2>/dev/null || true; }

mkdir -p "$run_dir"
# By this name the attempt knows the summary.json of its own run from an older one.
export SPILLWAY_JOB=${SLURM_JOB_ID:-${PBS_JOBID:-}}.$$.$RANDOM
echo "$SPILLWAY_JOB" >"$run_dir/job-began"
before=$(newest)
srun --export=ALL --ntasks="$SLURM_NNODES" --ntasks-per-node=1 \
  grep -qxF "$SPILLWAY_JOB" "$run_dir/job-began" || {
  echo "not every node sees $PWD/$run_dir, or one could not be asked (see above): submit from" \
    "a folder that they share" >&2
  exit 2
}

# Ranks part the cores of their node among themselves. Where one dies, or its node, all end.
# They get this script's environment, whatever sbatch was told to export to the script itself.
status=0
srun --export=ALL ${mpi:+--mpi="$mpi"} --cpu-bind=none --kill-on-bad-exit=1 \
  "$spillway" train "$input" \
  run.max_time=auto memory.nvme.path="$scratch" memory.nvme.size="$scratch_size" \
  "${@:2}" run.dir="$run_dir" || status=$?

# What spillway itself has said counts: srun's status is the highest of all ranks.
if grep -qsF "\"job\": \"$SPILLWAY_JOB\"" "$run_dir/summary.json"; then
  status=$(sed -n 's/^ *"exit": *\([0-9]*\).*/\1/p' "$run_dir/summary.json")
fi
case $status in
  0 | [23457]) exit "$status" ;;       # done, or nothing that another try would mend
esac

# Stopped in time (75), or a rank was lost: again from the last checkpoint, if there is a newer one.
# Slurm itself requeues after the failure of a node, but neither what its limit has killed nor what
# has ended because a peer was lost.
if [[ $(newest) == "$before" ]]; then
  echo "status $status before any new checkpoint: not requeued" >&2
  exit "$status"
fi
echo "status $status at $(latest): requeued" >&2
scontrol requeue "$SLURM_JOB_ID" || exit "$status"
