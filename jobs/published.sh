#!/usr/bin/env bash
# Makes docs/published.md anew: plans for the settings of published systems, beside what they
# measured. Nothing is trained; it takes minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs/build.sh spillway
page=$(mktemp)
trap 'rm -f "$page"' EXIT
python3 tests/bench/published/page.py build/bin/spillway >"$page"
cp "$page" docs/published.md
sed -n '/rows are judged/,/not counted/p' docs/published.md
