#!/usr/bin/env bash
# jobs/test.sh [--all] [ctest options...]: sets up, builds, runs the tests; --all adds long ones.
# Leaves what each test and target took in build/seconds.txt. Where there is nvcc, the module for
# CUDA devices is built, and tests of its kernels run, which need no GPU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

select=(--label-exclude '^long$')
if [[ ${1:-} == --all ]]; then
  select=()
  shift
fi
jobs/setup.sh tests

# Prints where nvcc of a CUDA that has all that the module wants is; fails where there is none.
find_nvcc() {
  local nvcc release
  for nvcc in "${CUDA_HOME:-}/bin/nvcc" "$(command -v nvcc)" /usr/local/cuda/bin/nvcc; do
    release=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p') || continue
    [[ -n $release && $(printf '%s\n' 12.5 "$release" | sort -V | head -n 1) == 12.5 ]] || continue
    if compgen -G "${nvcc%/bin/nvcc}/include/cublasLt.h" >/dev/null ||
      compgen -G "${nvcc%/bin/nvcc}/targets/*/include/cublasLt.h" >/dev/null; then
      echo "$nvcc"
      return
    fi
  done
  return 1
}
if nvcc=$(find_nvcc); then
  # The PTX for one architecture serves the tests; a folder that has the module keeps its own.
  cuda=(-DSPILLWAY_NVCC="$nvcc" -DSPILLWAY_CUDA_ARCHITECTURES=90)
  ! grep -qs '^SPILLWAY_CUDA:BOOL=ON' build/CMakeCache.txt || cuda=()
  cmake --preset cuda "${cuda[@]}" --log-level=WARNING >&2
else
  echo "no nvcc of CUDA 12.5 or newer with cublasLt: CUDA kernels and their tests are left out"
fi
jobs/build.sh  # as the folder is configured

# Scripts among the tests call mpirun themselves, possibly as root in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_PROC_BIND=false
# Tests that sample take other cases after each commit; SPILLWAY_SAMPLE=N takes those of sample N.
commit=$(git rev-parse HEAD 2>/dev/null || echo 0)
export SPILLWAY_SAMPLE=${SPILLWAY_SAMPLE:-$((16#${commit:0:6}))}
echo "SPILLWAY_SAMPLE=$SPILLWAY_SAMPLE has this run's cases again"
# Those that took long begin first, so that none is left alone at the end. ctest knows how long from
# its last run, at first from ours.
costs=build/Testing/Temporary/CTestCostData.txt
if [[ ! -e $costs ]]; then
  mkdir -p "${costs%/*}"
  awk '/^ / { print $2, 1, $1 } END { print "---" }' tests/slowest.txt >"$costs"
fi
# More than cores, since some wait more than they compute.
status=0
ctest --test-dir build --output-on-failure --no-tests=error --parallel $(($(nproc) + 2)) \
  --output-junit tests.xml "${select[@]}" "$@" || status=$?
jobs/seconds.sh build >build/seconds.txt || echo "build/seconds.txt: not written" >&2
exit "$status"
