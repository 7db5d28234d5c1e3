# shellcheck shell=bash
# Karolina (IT4Innovations), GPU nodes: sourced at a shell before the build, and by karolina.sh.
# After docs.it4i.cz and WarpX' profile for it; not tried.
module load GCC OpenMPI                # of one toolchain, with CUDA: OpenMPI/...-GCC-...-CUDA-...
module load CUDA                       # 12.5 or newer
module load HDF5 CMake Ninja
export SRUN_MPI=pmix
