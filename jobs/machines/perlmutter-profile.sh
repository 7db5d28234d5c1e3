# shellcheck shell=bash
# Perlmutter (NERSC), GPU nodes: sourced at a shell before the build, and by perlmutter.sh.
# After docs.nersc.gov/systems/perlmutter and WarpX' profile for it; not tried.
module load gpu PrgEnv-gnu craype-x86-milan craype-accel-nvidia80
module load cudatoolkit                # 12.5 or newer: module spider cudatoolkit
module load cmake cray-hdf5
export CC=cc CXX=CC                    # the wrappers know Cray's MPI
export SRUN_MPI=                       # srun's own default
