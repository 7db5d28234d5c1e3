#!/usr/bin/env bash
# gpu_architectures.sh: jobs/gpu.sh, as it is, on nodes whose nvidia-smi is our own, has the module
# compiled for the GPUs that are there. There is no build: it ends with 2.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/jobs"
cp "$root/jobs/gpu.sh" "$work/jobs"
ln -s "$(type -P true)" "$work/jobs/setup.sh"
ln -s "$(type -P false)" "$work/jobs/build.sh"
ln -s "$(type -P true)" "$work/bin/cmake"
cat >"$work/bin/nvidia-smi" <<'SMI'
#!/bin/sh
[ "$1" = -L ] || printf "%b" "$SAID"
SMI
chmod +x "$work/bin/nvidia-smi"
export PATH=$work/bin:$PATH

failed=0
# expect ARCHITECTURES SAID: where nvidia-smi says SAID of compute capabilities.
expect() {
  local status=0
  SAID=$2 "$work/jobs/gpu.sh" "$work/out" 2>"$work/said" || status=$?
  if ((status != 2)) || ! grep -qF "SPILLWAY_CUDA_ARCHITECTURES=$1 --log" "$work/out/log.txt"; then
    echo "expected '$1' of '$2' (status $status):" >&2
    cat "$work/said" >&2
    failed=1
  fi
}
expect "80" '8.0\n8.0\n'
expect "80;86-real;90-real" '9.0\n8.6\n8.0\n8.6\n'
expect "89" '7.5\n8.9\n'
expect "90-virtual;120-real" '12.0\n'
expect "90-virtual;100-real;120-real" '12.0\n10.0\n'
expect "" '7.5\n'
expect "" 'Field "compute_cap" is not a valid field to query.\n'
expect "" ''
exit $failed
