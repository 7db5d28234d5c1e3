#!/usr/bin/env bash
# jobs/build.sh [TARGETS...]: sets up, configures and builds the release preset, only what changed:
# everything, or with targets them alone: `jobs/build.sh spillway` makes build/bin/spillway. Where
# `cmake --preset cuda` has configured build/ it stays so, with the module for CUDA devices, as
# SPILLWAY_PRESET=cuda asks for it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs/setup.sh

# A compiler at work takes up to 2 GiB: fewer at once than cores where memory is short.
cores=$(nproc)
fit=$(awk '/^MemAvailable/ {print int($2 / 2097152)}' /proc/meminfo)
jobs=$((fit < 1 ? 1 : fit < cores ? fit : cores))

cmake --preset "${SPILLWAY_PRESET:-release}" --log-level=WARNING >&2
cmake --build build --parallel "${SPILLWAY_JOBS:-$jobs}" ${1:+--target "$@"} >&2
