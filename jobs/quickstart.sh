#!/usr/bin/env bash
# From a bare machine to a trained model: sets up, builds, and trains a small GPT with two ranks on
# this machine's own C headers, with less device memory than its activations want.
# Arguments are passed on to `spillway train` (key=value), as model.family=llama, bert or t5.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs/build.sh spillway
spillway=build/bin/spillway

# The C library's and the kernel's headers, in a fixed order; every twentieth is for validation.
mkdir -p tokens runs
find /usr/include -type f -name '*.h' -not -path '*/c++/*' \
  \( -path '/usr/include/linux/*' -o -path '*/bits/*' -o -path '*/sys/*' \) -printf '%s %p\n' |
  LC_ALL=C sort -k 2 |
  awk -v most=6000000 '{sum += $1} sum > most {exit} {print (NR % 20 ? "train" : "valid"), $2}' \
    >tokens/quickstart.list
for part in train valid; do
  mapfile -t files < <(awk -v part=$part '$1 == part {print $2}' tokens/quickstart.list)
  cat "${files[@]}" >tokens/quickstart-$part.txt
  "$spillway" tokenize --tokenizer byte -o tokens/quickstart-$part.h5 "${files[@]}"
done

dir=runs/quickstart-$(date +%Y%m%d-%H%M%S)
for ((i = 2; ; i++)); do
  mkdir "$dir" 2>/dev/null && break
  dir=${dir%.*}.$i
done

# input/quickstart.yaml names runs/quickstart: the newest run, so that it can be gone on with.
ln -sfn "${dir##*/}" runs/quickstart

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_PROC_BIND=false
ranks=(mpirun -n 2)
if mpirun --version | grep -q 'Open MPI'; then
  ranks+=(--oversubscribe --bind-to none)
fi
"${ranks[@]}" "$spillway" train input/quickstart.yaml run.dir="$dir" "$@"

echo
prompt='#ifndef _LINUX_'
grep -q '^ *family: bert$' "$dir/config.yaml" && prompt='#ifndef _LIN[MASK]X_'
grep -q '^ *family: t5$' "$dir/config.yaml" && prompt='#ifndef _LIN<extra_id_0>_H'
echo "A sample of what was learned:"
"$spillway" generate --checkpoint "$dir/$(<"$dir/latest")" --prompt "$prompt" --tokens 300
echo
python3 jobs/quickstart_report.py "$dir" tokens/quickstart-train.txt
