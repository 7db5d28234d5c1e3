#!/usr/bin/env bash
# train_elsewhere.sh BUILD: the installed program tokenizes, trains, spills, resumes and generates
# in a folder that is not the tree's, as an ordinary user with 64 KiB of locked memory.
# shellcheck disable=SC1091,SC2154  # install.sh sets work and prefix
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/install.sh"
home=$work/home
mkdir "$home"
cp "$(dirname "${BASH_SOURCE[0]}")"/*.sh "$home"
user=()
if [[ $(id -u) == 0 ]]; then
  chown -R nobody "$home"
  user=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups --no-new-privs)
fi
ulimit -l 64
# Not `env -i`: how sanitizers and threads are set is the test's.
as_user() {
  "${user[@]}" env --chdir="$home" HOME="$home" TMPDIR="$home" XDG_CACHE_HOME="$home/cache" \
    PATH="$prefix/bin:$PATH" "$@"
}
fails() {
  echo "$1" >&2
  cat "$home/said" >&2
  exit 1
}

[[ $(as_user sh -c 'ulimit -l') == 64 ]]
if [[ ${#user[@]} != 0 ]] && as_user touch "$prefix/bin/spillway" 2>/dev/null; then
  echo "the user may write to the prefix" >&2
  exit 1
fi

as_user spillway doctor . >"$home/said" 2>&1 || fails "doctor"
as_user spillway tokenize --tokenizer byte -o tokens.h5 "$home"/*.sh >"$home/said" 2>&1 ||
  fails "tokenize"
train=(spillway train "$prefix/share/spillway/input/quickstart.yaml" data.train=tokens.h5
  data.valid=none data.sequence=32 model.layers=2 model.hidden=64 model.heads=2 batch.sequences=8
  memory.device=auto memory.nvme.path=. memory.nvme.size=256MiB plan.activations=nvme
  run.dir=run run.checkpoint.every=4)
as_user "${train[@]}" run.steps=4 >"$home/said" 2>&1 || fails "train"
as_user "${train[@]}" run.steps=8 >"$home/said" 2>&1 || fails "train, resumed"
[[ $(<"$home/run/latest") == step-8 ]] || fails "the last checkpoint is $(<"$home/run/latest")"
python3 - "$home/run" <<'CHECK' || fails "metrics"
import json, math, sys
rows = [json.loads(line) for line in open(sys.argv[1] + "/metrics.jsonl") if "event" not in line]
assert rows[-1]["step"] == 8 and all(math.isfinite(row["loss"]) for row in rows), rows
assert max(row["spilled_bytes"] for row in rows) > 0, "nothing was spilled"
CHECK
as_user spillway generate --checkpoint run/step-8 --prompt set --tokens 4 >"$home/said" 2>&1 ||
  fails "generate"
