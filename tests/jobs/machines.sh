#!/usr/bin/env bash
# machines.sh: every machine of jobs/machines has a profile, a script and a row, its script asks
# Slurm for what many-nodes.sh needs, and comes with what it is given to the program by way of srun.
# Commands of the cluster are our own.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
  echo "$*" >&2
  failed=1
}

# What srun is asked for is kept; the program "ends" with 0.
mkdir -p "$work/bin" "$work/runs" "$work/build/bin"
cat >"$work/bin/srun" <<'SRUN'
#!/usr/bin/env bash
echo "srun $*" >>"$work/log"
SRUN
printf '#!/bin/sh\n' | tee "$work/bin/module" >"$work/build/bin/spillway"
chmod +x "$work/bin"/* "$work/build/bin/spillway"
ln -s "$root/jobs" "$work/jobs"

needed=$(grep -E '^#SBATCH --(signal|requeue|open-mode|exclusive|output)' \
  "$root/jobs/slurm/many-nodes.sh" | sed 's/ *#[^!S].*//')
machines=$(cd "$root/jobs/machines" && ls -- *-profile.sh)
(($(wc -w <<<"$machines") >= 5)) || complain "jobs/machines: only $machines"
for profile in $machines; do
  name=${profile%-profile.sh} script=$root/jobs/machines/${profile%-profile.sh}.sh
  [[ -x $script ]] || { complain "$script: is not there, or not executable"; continue; }
  grep -qF "\`$name.sh\`" "$root/jobs/machines/README.md" || complain "README.md: no $name.sh"
  grep -q 'not tried' "$root/jobs/machines/$profile" || complain "$profile: without 'not tried'"
  while read -r line; do
    grep -qF -- "$line" "$script" || complain "$name.sh: without $line"
  done <<<"$needed"
  ranks=$(sed -nE 's/^#SBATCH --ntasks-per-node=([0-9]+).*/\1/p' "$script")
  grep -qE "^#SBATCH --(gres=gpu:|gpus-per-node=)$ranks( |\$)" "$script" ||
    complain "$name.sh: not a GPU for each of a node's $ranks ranks"
  : >"$work/log"
  (
    cd "$work"
    export work PATH="$work/bin:$PATH" SLURM_JOB_NAME=$name SLURM_NNODES=2 SLURM_JOB_ID=7
    bash "$script" in.yaml run.steps=9
  ) || complain "$name.sh: ends with $?"
  started="build/bin/spillway train in.yaml .* memory.nvme=none run.steps=9 run.dir=runs/$name"
  tail -n 1 "$work/log" | grep -qE "^srun .* $started\$" ||
    complain "$name.sh starts: $(tail -n 1 "$work/log")"
done
exit $failed
