#!/usr/bin/env bash
# jobs/build.sh [TARGETS...]: sets up, configures and builds the release preset, only what changed:
# everything, or with targets them alone: `jobs/build.sh spillway` makes build/bin/spillway. Where
# `cmake --preset cuda` has configured build/ it stays so, with the module for CUDA devices, as
# SPILLWAY_PRESET=cuda asks for it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs/setup.sh

cmake --preset "${SPILLWAY_PRESET:-release}" --log-level=WARNING >&2

# As many compilers at once as cores, or as SPILLWAY_JOBS says; fewer where memory is short, since
# each takes up to 2 GiB.
cores=$(nproc)
fit=$(awk '/^MemAvailable/ {print int($2 / 2097152)}' /proc/meminfo)
((fit > 0)) || fit=1
jobs=${SPILLWAY_JOBS:-$((fit < cores ? fit : cores))}
# The module's build is a job of the program's, which waits, and has jobs of its own. Whichever of
# the two is left alone should have all cores, so memory and SPILLWAY_JOBS alone bound their sum.
if grep -qs '^SPILLWAY_CUDA:BOOL=ON' build/CMakeCache.txt; then
  all=$((2 * cores - 1))
  all=${SPILLWAY_JOBS:-$((fit < all ? fit : all))}
  export CMAKE_BUILD_PARALLEL_LEVEL=$(((all + 1) / 2))
  jobs=$((all - CMAKE_BUILD_PARALLEL_LEVEL + 1))
fi
cmake --build build --parallel "$jobs" ${1:+--target "$@"} >&2
