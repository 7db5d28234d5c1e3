#!/usr/bin/env bash
# jobs/test.sh [--all] [ctest options...]: sets up, builds, runs the tests; --all adds long ones.
# Leaves what each test and target took in build/seconds.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

select=(--label-exclude '^long$')
if [[ ${1:-} == --all ]]; then
  select=()
  shift
fi
jobs/setup.sh tests
jobs/build.sh

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
