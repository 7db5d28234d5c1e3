#!/usr/bin/env bash
# build_jobs.sh: jobs/build.sh, as it is, on machines whose cores and memory are made up, has as
# many compilers at once as it should: in the program's build, and in that of the module, for which
# one job of the program's waits. CMake only says here what it is asked for.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/jobs" "$work/build"
cp "$root/jobs/build.sh" "$work/jobs"
ln -s "$(type -P true)" "$work/jobs/setup.sh"
cat >"$work/bin/cmake" <<'CMAKE'
#!/bin/sh
[ "$1" != --build ] || echo "$4 ${CMAKE_BUILD_PARALLEL_LEVEL:--}" >&2
CMAKE
printf '#!/bin/sh\nprintenv CORES\n' >"$work/bin/nproc"
printf '#!/bin/sh\nprintenv FIT\n' >"$work/bin/awk"
chmod +x "$work/bin/"*
export PATH=$work/bin:$PATH
unset CMAKE_BUILD_PARALLEL_LEVEL

failed=0
while read -r module CORES FIT asked program_jobs module_jobs; do
  export CORES FIT SPILLWAY_JOBS=${asked#-}
  echo "SPILLWAY_CUDA:BOOL=$module" >"$work/build/CMakeCache.txt"
  said=$("$work/jobs/build.sh" 2>&1) || said+=" (failed)"
  if [[ $said != "$program_jobs $module_jobs" ]]; then
    echo "$module, $CORES cores, memory for $FIT, SPILLWAY_JOBS=$SPILLWAY_JOBS: $said," \
      "not $program_jobs $module_jobs" >&2
    failed=1
  fi
done <<'MACHINES'
OFF 1  0 - 1  -
OFF 2  9 - 2  -
OFF 8  3 - 3  -
OFF 8  3 5 5  -
ON  1  0 - 1  1
ON  1  9 - 1  1
ON  2  9 - 2  2
ON  2  2 - 2  1
ON 16 99 - 16 16
ON 16 20 - 11 10
ON 16 99 1 1  1
ON 16 99 5 3  3
ON 16 99 6 4  3
MACHINES
exit $failed
