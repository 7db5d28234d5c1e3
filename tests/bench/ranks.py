#!/usr/bin/env python3
"""Ranks on one machine, alternating in one run; prints tables.

    tests/bench/ranks.py [--rounds 3] [--launcher "mpirun --oversubscribe --bind-to none"]

First GPT-2 124M, 4 x 512 tokens a step (more on more cores): one rank with all threads beside as
many ranks as cores.
Then 2 blocks of it, 512 tokens a rank: 1 rank and 2, 4, 8 on the same cores (no collapse, no hang).
"""
import argparse
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

from compare_pytorch import VOCAB, write_tokens
from runs import reported


def step_s(args, folder, ranks, layers, sequences):
    """The median step, apart from the first two."""
    run_dir = pathlib.Path(tempfile.mkdtemp(dir=folder))
    overrides = {
        "model.layers": layers, "model.hidden": 768, "model.heads": 12, "model.vocab": VOCAB,
        "data.train": folder / "tokens.h5", "data.sequence": 512, "batch.sequences": sequences,
        "batch.micro": sequences // ranks, "precision": "bf16", "optim.warmup": 1,
        "run.steps": args.steps, "run.dir": run_dir, "run.log.every": 1,
        "run.checkpoint.every": 0, "memory.device": "8GiB", "plan.activations": "keep",
        "memory.nvme": "none",
    }
    command = [] if ranks == 1 else [*shlex.split(args.launcher), "-n", ranks]
    command += [args.spillway, "train", folder / "bench.yaml"]
    command += [f"{key}={value}" for key, value in overrides.items()]
    environment = {**os.environ, "OMP_PROC_BIND": "false"}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          env=environment)
    if done.returncode != 0:
        sys.exit(done.stderr)
    rows, _ = reported(run_dir)
    return statistics.median([row["step_s"] for row in rows][2:])


def compare(args, folder):
    cores = len(os.sched_getaffinity(0))
    sequences = max(4 // cores, 1) * cores
    one, many = [], []
    for _ in range(args.rounds):
        one.append(step_s(args, folder, 1, 12, sequences))
        many.append(step_s(args, folder, cores, 12, sequences))
    ratio = statistics.median(b / a for a, b in zip(one, many))
    print("| | step, s (all rounds) | times one rank, median |\n| --- | --- | --- |")
    for name, steps in ((f"1 rank, {cores} threads", one), (f"{cores} ranks", many)):
        every = ", ".join(f"{step:.3f}" for step in steps)
        print(f"| {name} | {statistics.median(steps):.3f} ({every}) "
              f"| {'' if steps is one else f'{ratio:.2f}'} |")


def scale(args, folder):
    print("\n| ranks | tokens/s, median (all rounds) |\n| --- | --- |")
    for ranks in (1, 2, 4, 8):
        rates = [ranks * 512 / step_s(args, folder, ranks, 2, ranks) for _ in range(args.rounds)]
        every = ", ".join(f"{rate:.0f}" for rate in rates)
        print(f"| {ranks} | {statistics.median(rates):.0f} ({every}) |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--spillway", default="build/bin/spillway")
    parser.add_argument("--launcher", default="mpirun --oversubscribe --bind-to none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=7)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        folder = pathlib.Path(folder)
        (folder / "bench.yaml").write_text("model: {family: gpt}\n")
        write_tokens(args, folder / "tokens.h5", 40 * 8 * 512 + 1)
        compare(args, folder)
        scale(args, folder)


if __name__ == "__main__":
    main()
