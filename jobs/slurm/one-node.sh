#!/bin/bash
# Trains on one node for as long as it takes, limit after limit:
#     sbatch [-J NAME] [-A ACCOUNT] [-p PARTITION] jobs/slurm/one-node.sh [INPUT [key=value ...]]
# from the folder that INPUT's paths are relative to. The run is runs/NAME; the same command later
# goes on with it. mpirun starts the ranks, so that Slurm needs no plugin for MPI.
#SBATCH --job-name=spillway
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2            # a rank for each socket or NUMA domain
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=04:00:00
#SBATCH --signal=B:USR1@300            # to this script; Slurm may be a minute early
#SBATCH --requeue                      # after a failure of the node, too
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
run_dir=runs/$SLURM_JOB_NAME           # where the next node sees it, too
scratch=${SCRATCH_LOCAL:-${TMPDIR:-/tmp}}  # a disk of this node, for the spill file, which has
scratch_size=256GiB                    # no name and dies with its rank; or what is free, per rank

latest() { cat "$run_dir/latest" 2>/dev/null || true; }
# Another run's checkpoint may have had the same name.
newest() { latest; cksum "$run_dir/$(latest)/seal" 2>/dev/null || true; }

mkdir -p "$run_dir"
# By this name the attempt knows the summary.json of its own run from an older one.
export SPILLWAY_JOB=${SLURM_JOB_ID:-${PBS_JOBID:-}}.$$.$RANDOM
before=$(newest)

# Ranks part the cores among themselves. mpirun passes USR1 on to them: they write a checkpoint and
# end with 75. (SIGTERM would leave them a second.) A USR1 that comes before mpirun listens is lost,
# or where mpirun is a script that passes none on; run.max_time then stops the run.
trap 'kill -USR1 "${mpirun:-}" 2>/dev/null || true' USR1
(
  trap '' USR1
  exec mpirun -n "$SLURM_NTASKS" --bind-to none "$spillway" train "$input" \
    run.max_time=auto memory.nvme.path="$scratch" memory.nvme.size="$scratch_size" \
    "${@:2}" run.dir="$run_dir"
) &
mpirun=$!
until wait "$mpirun"; status=$?; ! kill -0 "$mpirun" 2>/dev/null; do :; done  # USR1 ends a wait

# What spillway itself has said counts: mpirun may have a status of its own.
if grep -qsF "\"job\": \"$SPILLWAY_JOB\"" "$run_dir/summary.json"; then
  status=$(sed -n 's/^ *"exit": *\([0-9]*\).*/\1/p' "$run_dir/summary.json")
fi
case $status in
  0 | [23457]) exit "$status" ;;       # done, or nothing that another try would mend
esac

# Stopped in time (75), or a rank was lost: again from the last checkpoint, if there is a newer one.
# Slurm itself does not requeue what its limit has killed, nor what has failed.
if [[ $(newest) == "$before" ]]; then
  echo "status $status before any new checkpoint: not requeued" >&2
  exit "$status"
fi
echo "status $status at $(latest): requeued" >&2
scontrol requeue "$SLURM_JOB_ID" || exit "$status"
