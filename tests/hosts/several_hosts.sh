#!/usr/bin/env bash
# several_hosts.sh SPILLWAY DIRECTORY: three hosts; the third has a slow link, and mostly two ranks.
set -euo pipefail
spillway=$1 directory=$2
# shellcheck source=tests/hosts/hosts.sh
source "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"
[[ $(id -u) == 0 ]] || skip "only root may make network namespaces"
mpirun --version | grep -q 'Open MPI' || skip "this test knows how Open MPI starts its daemons"
places=10.77.0.1:1,10.77.0.2:1,10.77.0.3:2

rm -rf "$directory"
mkdir -p "$directory/scratch"
cd "$directory"
seq 1 4000 >text
"$spillway" tokenize --tokenizer byte -o tokens.h5 text 2>/dev/null
cat >job.yaml <<'YAML'
model: {family: gpt, layers: 2, hidden: 128, heads: 2, vocab: 256}
data: {train: tokens.h5, sequence: 32}
batch: {sequences: 8, micro: 2}
memory: {device: 64MiB, nvme: {path: scratch, size: 64MiB}}
plan: {activations: nvme}
run: {steps: 6, threads: 1, dir: run, max_time: 50m, checkpoint: {every: 3}}
YAML

make_hosts 3
slow_down 3 100mbit

echo "== both kinds of links are measured"
run_on "$places" "$spillway" profile job.yaml -o machine.yaml
python3 - <<'PYTHON'
import re
links = {key: float(value) for key, value in
         re.findall(r"(node_gbps|network_gbps): ([0-9.e-]+)", open("machine.yaml").read())}
print(links)
assert 0 < links["network_gbps"] < 0.03, "100 Mbit/s are 0.0125 GB/s, and a burst more"
assert links["node_gbps"] > 2 * links["network_gbps"]
PYTHON

echo "== a run finishes, and says who waited for whom"
run_on "$places" "$spillway" train job.yaml
[[ -z $(ls -A scratch) ]]
python3 - <<'PYTHON'
import json
hosts = json.load(open("run/environment.json"))["hosts"]
assert hosts == ["node1", "node2", "node3", "node3"], hosts
summary = json.load(open("run/summary.json"))
print(summary["waits"], summary["train_s"])
assert summary["exit"] == 0 and len(summary["waits"]) == 4
for rank in (0, 1):
    wait = summary["waits"][rank]
    assert wait["most_for"] in (2, 3), wait
    assert 0 < wait["for_it_s"] <= wait["waited_s"] <= summary["train_s"] + 0.1, wait
PYTHON

echo "== ranks of each node share out, and no bit changes"
pairs=10.77.0.2:2,10.77.0.3:2
run_on "$pairs" "$spillway" train job.yaml run.dir=whole plan.shard=none 2>/dev/null
run_on "$pairs" "$spillway" train job.yaml run.dir=shared plan.shard=all plan.shard_ranks=node \
  2>/dev/null
grep -q '^Ranks of each node share out: a parameters, too' shared/plan.txt
python3 - <<'PYTHON'
import json
def steps(folder):
    rows = map(json.loads, open(folder + "/metrics.jsonl"))
    return [(row["step"], row["loss"], row["grad_norm"]) for row in rows if "loss" in row]
assert steps("whole") == steps("shared") and len(steps("whole")) > 0, steps("shared")
PYTHON
status=0
run_on "$places" "$spillway" train job.yaml run.dir=uneven plan.shard_ranks=node 2>uneven.txt ||
  status=$?
grep -q 'plan.shard_ranks: node: nodes do not all have as many ranks' uneven.txt
[[ $status == 2 ]]

echo "== a host that stops is named"
status=0
run_on "$places" "$spillway" train job.yaml run.steps=1000000 run.peer_timeout=20s \
  >stopped.txt 2>&1 &
launcher=$!
until [[ $(<run/latest) != step-6 ]]; do kill -0 $launcher; sleep 0.1; done
ip netns pids "$SPILLWAY_HOSTS-3" | xargs -I{} sh -c \
  'grep -q spillway /proc/{}/comm && kill -STOP {} || true'
wait $launcher || status=$?
grep 'no word from' stopped.txt
grep -q 'no word from rank 2 (node3), rank 3 (node3) for 20 s' stopped.txt
[[ $status == 6 ]]
