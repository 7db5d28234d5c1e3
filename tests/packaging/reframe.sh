#!/usr/bin/env bash
# reframe.sh ROOT TOOLS SPILLWAY: ReFrame runs its test with this program: it passes and reports
# tokens/s; where nothing is learned it fails by its sanity.
set -euo pipefail
root=$1 tools=$2 program=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bash "$here/tools.sh" "$tools"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1 TMPDIR=$work HOME=$work PYTHONPATH=$tools/python

run() {
  python3 "$tools/python/bin/reframe" -C "$root/reframe/settings.py" \
    -c "$root/reframe/spillway.py" --prefix "$work" --nocolor --run -S spillway="$program" "$@" \
    >"$work/said" 2>&1
}
if ! run || ! grep -qE 'P: tokens_per_s: [1-9]' "$work/said"; then
  cat "$work/said" >&2
  exit 1
fi
grep -E 'P: tokens_per_s' "$work/said"
if run -S steps=8 -S overrides=optim.lr=0,optim.min_lr=0 ||
  ! grep -q 'loss ends at' "$work/said"; then
  echo "a run that learns nothing did not fail by its loss:" >&2
  cat "$work/said" >&2
  exit 1
fi
