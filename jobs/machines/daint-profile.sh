# shellcheck shell=bash
# Daint on Alps (CSCS), GH200: sourced at a shell before the build, and by daint.sh, inside the uenv
#     uenv start --view=default prgenv-gnu/24.11:v2
# which has gcc 13, CUDA 12.6, Cray's MPICH, HDF5, CMake, Ninja and Kokkos.
# After docs.cscs.ch, pages Daint, prgenv-gnu and Slurm; not tried, nor has the program been on Arm.
export CC=gcc CXX=g++
export SRUN_MPI=                       # srun's own default
