# shellcheck shell=bash
# Leonardo Booster (CINECA): sourced at a shell before the build, and by leonardo.sh.
# After docs.hpc.cineca.it/hpc/leonardo.html and WarpX' profile for it; not tried.
module load profile/base
module load gcc                        # 12 or newer: module av gcc
module load cuda                       # 12.5 or newer
module load openmpi                    # of that gcc and cuda: openmpi/...--gcc--...-cuda-...
module load hdf5 cmake
export SRUN_MPI=                       # srun's own default
