#!/usr/bin/env python3
"""Steps of a GPT whose parameters come from NVMe for every use, with micro-batches that pass layers
alone and together, alternating in one run; prints a Markdown table.

    tests/bench/groups.py build/bin/spillway --work DIR [--rounds 3] [--groups 1 auto]

The spill file lies in DIR, and so do the rates that are measured first. Sequences are short, so
that the drive has more to do than the cores; where it does not, let DIR be on a slower one (a blkio
throttle of the control group does). Measured: the median of a run's steps but the first two.
"""
import argparse
import os
import pathlib
import shutil
import statistics

from compare_pytorch import output_of, write_tokens
from runs import in_turns, reported

INPUT = """model: {{family: gpt, layers: 10, hidden: 768, heads: 12, vocab: 256}}
data: {{train: {work}/tokens.h5, valid: none, sequence: {sequence}}}
batch: {{sequences: {sequences}, micro: 1}}
memory: {{device: {device}, host: none, nvme: {{path: {work}, size: 4GiB}}}}
plan: {{parameters: nvme, optimizer: nvme, group: {group}, replan: false}}
run:
  {{steps: {steps}, dir: {work}/run, checkpoint: {{every: 0}}, eval: {{every: 0}},
   log: {{every: 1}}}}
"""


def one_run(args, group):
    """What a run was predicted to take and took a step, what it read, and its last loss."""
    config = args.work / "in.yaml"
    config.write_text(INPUT.format(**vars(args), group=group))
    run = args.work / "run"
    shutil.rmtree(run, ignore_errors=True)
    output_of([args.spillway, "train", str(config)])
    steps, summary = reported(run)
    plan = (run / "plan.yaml").read_text()
    return {"group": plan.split("\ngroup: ")[1].split()[0],
            "predicted_s": summary["predicted_step_s"],
            "step_s": statistics.median(row["step_s"] for row in steps[2:]),
            "read_gib": statistics.median(row["reloaded_bytes"] for row in steps[2:]) / 2**30,
            "loss": steps[-1]["loss"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spillway")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--groups", nargs="*", default=["1", "auto"])
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--sequences", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=32)
    parser.add_argument("--device", default="430MiB")
    args = parser.parse_args()
    args.work = args.work.resolve()
    os.environ["XDG_CACHE_HOME"] = str(args.work / "rates")
    write_tokens(args, args.work / "tokens.h5", 40 * args.sequences * args.sequence + 1)
    runs = in_turns(args.rounds, args.groups, lambda _, group: one_run(args, group))
    losses = {run["loss"] for all_runs in runs.values() for run in all_runs}
    first = statistics.median(run["step_s"] for run in runs[args.groups[0]])
    print("| plan.group | chosen | predicted, s | step, s | of predicted | read, GiB | faster |")
    print("|" + " --- |" * 7)
    for group, all_runs in runs.items():
        step_s, predicted_s, read_gib = (
            statistics.median(run[key] for run in all_runs)
            for key in ("step_s", "predicted_s", "read_gib"))
        print(f"| {group} | {all_runs[0]['group']} | {predicted_s:.2f} | {step_s:.2f} | "
              f"{step_s / predicted_s:.3f} | {read_gib:.2f} | {first / step_s:.2f} |")
    print(f"\n{len(losses)} last loss among all runs: {', '.join(map(str, losses))}")


if __name__ == "__main__":
    main()
