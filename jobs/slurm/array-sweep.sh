#!/bin/bash
# One small run for each of some settings, each for as long as it takes, limit after limit:
#     sbatch [-J NAME] [-A ACCOUNT] [-p PARTITION] jobs/slurm/array-sweep.sh [INPUT [key=value ...]]
# from the folder that INPUT's paths are relative to. The runs are runs/NAME/0, 1, ...; the same
# command later goes on with them.
#SBATCH --job-name=sweep
#SBATCH --array=0-3%2                  # a number for each of `settings`; two at a time
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
#SBATCH --signal=USR1@300              # to srun's ranks; Slurm may be a minute early
#SBATCH --requeue                      # after a failure of the node, too
#SBATCH --open-mode=append
#SBATCH --output=%x-%A-%a.out

settings=(
  "optim.lr=3e-4"
  "optim.lr=6e-4"
  "optim.lr=6e-4 optim.beta2=0.99"
  "optim.lr=1e-3 optim.warmup=1500"
)

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
run_dir=runs/$SLURM_JOB_NAME/$SLURM_ARRAY_TASK_ID  # where the next node sees it, too
mpi=pmix                               # srun --mpi=list names others; pmi2 for MPICH and Intel MPI
scratch=${SCRATCH_LOCAL:-${TMPDIR:-/tmp}}  # a disk of this node, for the spill file, which has
scratch_size=64GiB                     # no name and dies with its rank; or what is free
read -ra setting <<<"${settings[$SLURM_ARRAY_TASK_ID]}"

latest() { cat "$run_dir/latest" 2>/dev/null || true; }
# Another run's checkpoint may have had the same name.
newest() { latest; cksum "$run_dir/$(latest)/seal" 2>/dev/null || true; }

mkdir -p "$run_dir"
# By this name the attempt knows the summary.json of its own run from an older one.
export SPILLWAY_JOB=${SLURM_JOB_ID:-${PBS_JOBID:-}}.$$.$RANDOM
before=$(newest)

# It gets this script's environment, whatever sbatch was told to export to the script itself.
status=0
srun --export=ALL --mpi="$mpi" --cpus-per-task="$SLURM_CPUS_PER_TASK" "$spillway" train "$input" \
  run.max_time=auto memory.nvme.path="$scratch" memory.nvme.size="$scratch_size" \
  "${@:2}" "${setting[@]}" run.dir="$run_dir" || status=$?

# What spillway itself has said counts: srun may have a status of its own.
if grep -qsF "\"job\": \"$SPILLWAY_JOB\"" "$run_dir/summary.json"; then
  status=$(sed -n 's/^ *"exit": *\([0-9]*\).*/\1/p' "$run_dir/summary.json")
fi
case $status in
  0 | [23457]) exit "$status" ;;       # done, or nothing that another try would mend
esac

# Stopped in time (75), or killed: again from the last checkpoint, if there is a newer one. Slurm
# itself does not requeue what its limit has killed, nor what has failed.
if [[ $(newest) == "$before" ]]; then
  echo "status $status before any new checkpoint: not requeued" >&2
  exit "$status"
fi
echo "status $status at $(latest): requeued" >&2
scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" || exit "$status"
