#!/usr/bin/env bash
# Configures a small project with the real cmake/CudaModule.cmake and compilers that only say their
# version: what cannot make the module is refused in words, and what can is not.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0
mkdir -p "$tree/modules/cuda"
touch "$tree/modules/cuda/CMakeLists.txt"
echo "cmake_minimum_required(VERSION 3.25)
  project(small LANGUAGES NONE)
  set(CMAKE_INSTALL_LIBDIR lib)
  add_custom_target(spillway_version_header)
  include($root/cmake/CudaModule.cmake)" >"$tree/CMakeLists.txt"

# nvcc RELEASE: prints the path of a compiler that says it.
nvcc() {
  printf '#!/bin/sh\necho "Cuda compilation tools, release %s, V%s.1"\n' "$1" "$1" >"$tree/nvcc-$1"
  chmod +x "$tree/nvcc-$1"
  echo "$tree/nvcc-$1"
}

# expect TEXT OPTION...: the configure with the options fails and says TEXT; "": it passes.
expect() {
  local text=$1 status=0 said
  rm -rf "$tree/build"
  said=$(cmake -G Ninja -S "$tree" -B "$tree/build" -D SPILLWAY_CUDA=ON "${@:2}" 2>&1 |
    tr -s '\n ' ' ') || status=$?
  if [[ -z $text && $status != 0 || -n $text && ($status == 0 || $said != *"$text"*) ]]; then
    echo "expected '$text', but the configure said (status $status): $said" >&2
    failed=1
  fi
}

expect "there is no nvcc on PATH nor in CUDA_HOME" -D SPILLWAY_NVCC=
expect "nvcc-12.4 is not of CUDA 12.5 or newer" -D SPILLWAY_NVCC="$(nvcc 12.4)"
expect "nvcc-none is not of CUDA 12.5 or newer" -D SPILLWAY_NVCC="$(nvcc none)"
expect "75-real: kernels are for 80 and newer" -D SPILLWAY_NVCC="$(nvcc 13.0)" \
  -D "SPILLWAY_CUDA_ARCHITECTURES=75-real;80"
expect "100-real wants CUDA 12.8, and $tree/nvcc-12.6 is of 12.6" -D SPILLWAY_NVCC="$(nvcc 12.6)"
expect "" -D SPILLWAY_NVCC="$(nvcc 12.6)" -D "SPILLWAY_CUDA_ARCHITECTURES=80;90-real"
expect "" -D SPILLWAY_NVCC="$(nvcc 12.8)"
exit $failed
