# shellcheck shell=bash
# JUWELS Booster (JSC): sourced at a shell before the build, and by juwels-booster.sh.
# After apps.fz-juelich.de/jsc/hps/juwels and HiPACE++'s page booster_jsc; not tried.
module load GCC OpenMPI CUDA HDF5 CMake Ninja
export SRUN_MPI=                       # srun's own default: ParaStation starts the ranks
