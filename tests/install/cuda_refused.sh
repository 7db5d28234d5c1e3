#!/usr/bin/env bash
# Configures a small project with the real cmake/CudaModule.cmake and compilers that only say their
# version: what cannot make the module is refused in words, and what can is not; the module's own
# project is given what it should be. Another asks cmake/KokkosForCuda.cmake for which GPU Kokkos is
# compiled.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0
mkdir -p "$tree/modules/cuda" "$tree/kokkos"
touch "$tree/modules/cuda/CMakeLists.txt"
echo "cmake_minimum_required(VERSION 3.25)
  project(small LANGUAGES NONE)
  set(CMAKE_INSTALL_LIBDIR lib)
  add_custom_target(spillway_version_header)
  include($root/cmake/CudaModule.cmake)" >"$tree/CMakeLists.txt"
echo "cmake_minimum_required(VERSION 3.25)
  project(kokkos LANGUAGES NONE)
  list(APPEND CMAKE_MODULE_PATH $root/cmake)
  include(KokkosForCuda)
  kokkos_gpu(gpu)
  message(FATAL_ERROR \"Kokkos is for \${gpu}.\")" >"$tree/kokkos/CMakeLists.txt"

# nvcc RELEASE [FOLDER]: prints the path of a compiler that says the release, of a toolkit with the
# header of cublasLt in FOLDER.
nvcc() {
  local toolkit=$tree/cuda-$1 headers=${2:-include}
  rm -rf "$toolkit"
  mkdir -p "$toolkit/bin" "$toolkit/$headers"
  touch "$toolkit/$headers/cublasLt.h"
  printf '#!/bin/sh\necho "Cuda compilation tools, release %s, V%s.1"\n' "$1" "$1" \
    >"$toolkit/bin/nvcc"
  chmod +x "$toolkit/bin/nvcc"
  echo "$toolkit/bin/nvcc"
}

# configure TEXT FOLDER OPTION...: fails and says TEXT; "": it passes.
configure() {
  local text=$1 status=0 said
  rm -rf "$tree/build"
  said=$(cmake -G Ninja -S "$2" -B "$tree/build" "${@:3}" 2>&1 | tr -s '\n ' ' ') || status=$?
  if [[ -z $text && $status != 0 || -n $text && ($status == 0 || $said != *"$text"*) ]]; then
    echo "expected '$text', but the configure said (status $status): $said" >&2
    failed=1
  fi
}
expect() { configure "$1" "$tree" -D SPILLWAY_CUDA=ON "${@:2}"; }

# given NAME VALUE: the last configure hands it to the module's project.
given() {
  grep -qF "set($1 \"$2\" CACHE" "$tree"/build/spillway_cuda_module-prefix/tmp/*cache*.cmake || {
    echo "the module's project should be given $1=$2, but is given:" >&2
    cat "$tree"/build/spillway_cuda_module-prefix/tmp/*cache*.cmake >&2
    failed=1
  }
}

expect "there is no nvcc on PATH nor in CUDA_HOME" -D SPILLWAY_NVCC=
expect "cuda-12.4/bin/nvcc is not of CUDA 12.5 or newer" -D SPILLWAY_NVCC="$(nvcc 12.4)"
expect "cuda-none/bin/nvcc is not of CUDA 12.5 or newer" -D SPILLWAY_NVCC="$(nvcc none)"
expect "the toolkit of $tree/cuda-13.0/bin/nvcc has no cublasLt.h. Install cuBLAS (of NVIDIA's \
packages libcublas-dev-13-0)" -D SPILLWAY_NVCC="$(nvcc 13.0 elsewhere)"
expect "" -D SPILLWAY_NVCC="$(nvcc 13.0 targets/sbsa-linux/include)"
# As a wrapper in a folder of its own, which passes on what nvcc says.
printf '#!/bin/sh\necho "#$ TOP=%s/.."\nexec %s\n' "$tree/cuda-12.9/bin" "$(nvcc 12.9)" \
  >"$tree/wrapped"
chmod +x "$tree/wrapped"
expect "" -D SPILLWAY_NVCC="$tree/wrapped"
expect "75-real: kernels are for 80 and newer" -D SPILLWAY_NVCC="$(nvcc 13.0)" \
  -D "SPILLWAY_CUDA_ARCHITECTURES=75-real;80"
for word in native all-major 80-ptx; do
  expect "SPILLWAY_CUDA_ARCHITECTURES: $word: give numbers" -D SPILLWAY_NVCC="$(nvcc 13.0)" \
    -D "SPILLWAY_CUDA_ARCHITECTURES=$word"
done
expect "" -D SPILLWAY_NVCC="$(nvcc 13.0)" -D "SPILLWAY_CUDA_ARCHITECTURES=90a;90-virtual;103f-real"
expect "100-real wants CUDA 12.8, and $tree/cuda-12.6/bin/nvcc is of 12.6" \
  -D SPILLWAY_NVCC="$(nvcc 12.6)" -D "SPILLWAY_CUDA_ARCHITECTURES=80;90-real;100-real"
expect "" -D SPILLWAY_NVCC="$(nvcc 12.6)"
given CMAKE_CUDA_ARCHITECTURES "80;90-real"
expect "" -D SPILLWAY_NVCC="$(nvcc 12.8)"
given CMAKE_CUDA_ARCHITECTURES "80;90-real;100-real"
expect "" -D SPILLWAY_NVCC="$(nvcc 12.8)" -D "SPILLWAY_CUDA_ARCHITECTURES=86;89-real"
given CMAKE_CUDA_ARCHITECTURES "86;89-real"
touch "$tree/toolchain.cmake"
expect "" -D SPILLWAY_NVCC="$(nvcc 13.0)" -D CMAKE_BUILD_TYPE=Debug -D fmt_DIR=/fmt \
  -D nlohmann_json_DIR=/json -D CMAKE_TOOLCHAIN_FILE="$tree/toolchain.cmake" \
  -D CMAKE_CXX_FLAGS='-D_GLIBCXX_USE_CXX11_ABI=0 -DA="b c"' \
  -D CMAKE_CXX_FLAGS_DEBUG=-D_GLIBCXX_DEBUG
given CMAKE_CXX_FLAGS '-D_GLIBCXX_USE_CXX11_ABI=0 -DA=\"b c\"'
given CMAKE_CXX_FLAGS_DEBUG -D_GLIBCXX_DEBUG
given CMAKE_TOOLCHAIN_FILE "$tree/toolchain.cmake"
given fmt_DIR /fmt
given nlohmann_json_DIR /json

while read -r architectures gpu; do
  configure "Kokkos is for $gpu." "$tree/kokkos" -D "CMAKE_CUDA_ARCHITECTURES=$architectures"
done <<'GPUS'
80;90-real;100-real AMPERE80
90a-real HOPPER90
90-virtual;100-real HOPPER90
103f BLACKWELL100
110-real BLACKWELL100
121 BLACKWELL120
GPUS
exit $failed
