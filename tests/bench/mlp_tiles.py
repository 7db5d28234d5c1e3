#!/usr/bin/env python3
"""Steps of a Llama whose MLPs take all rows of a micro-batch at a time, and some of them, with
activations kept and made again, alternating in one run; prints a Markdown table.

    tests/bench/mlp_tiles.py build/bin/spillway --work DIR [--rounds 3] [--chunks 0 1024 4096]

Many sequences of moderate length make as many rows as one long sequence, without attention taking
most of the step: what tiles cost is a larger part here than where they are used. Measured: the
median of a run's steps but the first two, and the peak of the device arena.
"""
import argparse
import os
import pathlib
import shutil
import statistics

from compare_pytorch import output_of, write_tokens
from runs import in_turns, reported

INPUT = """model:
  {{family: llama, layers: 4, hidden: 512, heads: 8, kv_heads: 4, ffn: 1792, vocab: 256}}
data: {{train: {work}/tokens.h5, valid: none, sequence: {sequence}}}
batch: {{sequences: {sequences}, micro: {sequences}, mlp_chunk: {chunk}}}
precision: {precision}
plan: {{activations: {activations}, replan: false}}
run:
  {{steps: {steps}, dir: {work}/run, checkpoint: {{every: 0}}, eval: {{every: 0}},
   log: {{every: 1}}}}
"""
ACTIVATIONS = ("keep", "recompute")


def one_run(args, chunk, activations):
    """What a run was predicted to take and took a step, its peak, and its last loss."""
    config = args.work / "in.yaml"
    config.write_text(INPUT.format(**vars(args), chunk=chunk, activations=activations))
    run = args.work / "run"
    shutil.rmtree(run, ignore_errors=True)
    output_of([args.spillway, "train", str(config)])
    steps, summary = reported(run)
    return {"predicted_s": summary["predicted_step_s"],
            "step_s": statistics.median(row["step_s"] for row in steps[2:]),
            "peak_mib": summary["measured_peak_bytes"]["device"] / 2**20,
            "loss": steps[-1]["loss"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spillway")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--chunks", nargs="*", type=int, default=[0, 1024, 4096])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--sequences", type=int, default=32)
    parser.add_argument("--sequence", type=int, default=512)
    parser.add_argument("--precision", default="fp32")
    args = parser.parse_args()
    args.work = args.work.resolve()
    os.environ["XDG_CACHE_HOME"] = str(args.work / "rates")
    write_tokens(args, args.work / "tokens.h5", 2 * args.sequences * args.sequence + 1)
    cases = [(chunk, activations) for chunk in args.chunks for activations in ACTIVATIONS]
    runs = in_turns(args.rounds, cases, lambda _, case: one_run(args, *case))
    middle = {case: {key: statistics.median(run[key] for run in all_runs) for key in all_runs[0]}
              for case, all_runs in runs.items()}
    print("| rows at a time | activations | predicted, s | step, s | beside all rows | peak, MiB | "
          "loss |")
    print("|" + " --- |" * 7)
    for (chunk, activations), run in middle.items():
        whole = middle[args.chunks[0], activations]["step_s"]
        print(f"| {chunk or 'all'} | {activations} | {run['predicted_s']:.2f} | "
              f"{run['step_s']:.2f} | {run['step_s'] / whole:.3f} | {run['peak_mib']:.0f} | "
              f"{run['loss']:.6f} |")


if __name__ == "__main__":
    main()
