"""same_bits.py RUN WHOLE: RUN has its steps without a gap, and each, also one that was done again,
has the exact loss and gradient norm that it has in WHOLE, a run that nothing has disturbed."""
import json
import sys


def bits(run):
    with open(f"{run}/metrics.jsonl") as file:
        rows = [json.loads(line) for line in file if line.endswith("\n") and "event" not in line]
    return [(row["step"], row["loss_hex"], row["grad_norm_hex"]) for row in rows]


run, whole = bits(sys.argv[1]), dict.fromkeys(bits(sys.argv[2]))
steps = {step for step, _, _ in run}
if not steps or steps != set(range(1, max(steps) + 1)):
    sys.exit(f"{sys.argv[1]}: has the steps {sorted(steps)}")
for row in run:
    if row not in whole:
        sys.exit(f"{sys.argv[1]}: {row} is not what {sys.argv[2]} has")
