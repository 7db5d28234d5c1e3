#!/usr/bin/env python3
"""Predicted against measured: steps of varied shapes under varied plans; prints a Markdown table.

    tests/bench/predict.py build/bin/spillway --work DIR [--results DIR] [--only NAME ...]
        [KEY=VALUE ...]

Every run profiles, plans and trains in a process of its own. Measured: the median of its steps but
the first two. A run writes one checkpoint, at its end, below DIR, where the spill file is too. What
it reported stays in --results, a file a run; a run whose file is there is not done again.
Others: the share of all cores that other processes of this machine took meanwhile; a few percent
spoil a run.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from compare_pytorch import VOCAB, write_tokens
from runs import reported

# name: layers, hidden, heads, sequence, sequences, micro, precision
SHAPES = {
    "124M": (12, 768, 12, 512, 4, 4, "bf16"),
    "124M long": (12, 768, 12, 2048, 1, 1, "bf16"),
    "124M fp32": (12, 768, 12, 256, 4, 4, "fp32"),
    "deep": (24, 384, 6, 256, 8, 8, "bf16"),
    "wide": (3, 1536, 16, 256, 4, 4, "bf16"),
    "3 micro-batches": (12, 512, 8, 256, 12, 4, "bf16"),
}
PLANS = {
    "keep": {},
    "light": {"plan.activations": "light"},
    "recompute": {"plan.activations": "recompute"},
    "nvme": {"plan.activations": "nvme"},
    "half nvme": {"plan.activations": "nvme:0.5"},
    "mixed": {"plan.activations": ["nvme", "recompute", "nvme", "light", "light+nvme", "keep"]},
    "host update": {"plan.update": "host"},
    "state on nvme": {"plan.optimizer": "nvme", "plan.update": "host"},
    "state on nvme, device update": {"plan.optimizer": "nvme", "plan.update": "device"},
    "all on nvme": {"plan.activations": "light+nvme", "plan.parameters": "nvme",
                    "plan.optimizer": "nvme", "plan.update": "host"},
    "no clip": {"plan.optimizer": "nvme", "plan.update": "host", "optim.clip": 0},
}
# Every plan on the first shape, a few on every other one.
CASES = [("124M", plan) for plan in PLANS] + [
    (shape, plan) for shape in list(SHAPES)[1:]
    for plan in ("keep", "recompute", "mixed", "all on nvme")]


def others_cpu_s():
    """What everybody has taken of the cores so far, but for this process's children that ended."""
    busy = [int(ticks) for ticks in open("/proc/stat").readline().split()[1:9]]
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    all_s = (sum(busy) - busy[3] - busy[4] - busy[7]) / os.sysconf("SC_CLK_TCK")
    return all_s - own.ru_utime - own.ru_stime


def run(args, folder, shape, plan):
    layers, hidden, heads, sequence, sequences, micro, precision = SHAPES[shape]
    run_dir = folder / "run"
    overrides = {
        "model.layers": layers, "model.hidden": hidden, "model.heads": heads, "model.vocab": VOCAB,
        "data.train": folder / "tokens.h5", "data.sequence": sequence,
        "batch.sequences": sequences, "batch.micro": micro, "precision": precision,
        "run.steps": args.steps, "run.dir": run_dir, "run.log.every": 1,
        "run.checkpoint.every": 0, "memory.host": "1GiB",
        "memory.nvme": f"{{path: {folder}, size: 16GiB}}", "plan.activations": "keep",
    } | PLANS[plan] | dict(text.split("=", 1) for text in args.overrides)
    policies = overrides["plan.activations"]
    if isinstance(policies, list):  # no more than there are layers
        overrides["plan.activations"] = f"[{', '.join(policies[:layers])}]"
    command = [args.spillway, "train", folder / "bench.yaml"]
    command += [f"{key}={value}" for key, value in overrides.items()]
    begin_s, others_s = time.monotonic(), others_cpu_s()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    others = (others_cpu_s() - others_s) / (time.monotonic() - begin_s) / os.cpu_count()
    if done.returncode != 0:
        sys.exit(f"{shape}, {plan}: exit {done.returncode}\n{done.stderr[-3000:]}")
    rows, summary = reported(run_dir)
    report = summary | {
        "steps": rows, "others_cpu": others, "explanation": (run_dir / "plan.txt").read_text()}
    shutil.rmtree(run_dir)
    return report


def found_or_run(args, folder, shape, plan):
    if not args.results:
        return run(args, folder, shape, plan)
    file = pathlib.Path(args.results) / f"{shape}, {plan}.json".replace(" ", "_")
    if not file.exists():
        file.write_text(json.dumps(run(args, folder, shape, plan)))
    return json.loads(file.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spillway")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE")
    parser.add_argument("--work", default=".", help="directory for tokens, spill file and run")
    parser.add_argument("--results", help="directory that keeps what every run reported")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--only", nargs="*", help="plans, by name")
    parser.add_argument("--ops", action="store_true", help="every op kind of every run as well")
    args = parser.parse_intermixed_args()
    print("| shape | plan | predicted, s | measured, s | off by | peaks | others |\n" +
          "| --- " * 7 + "|")
    errors = []
    with tempfile.TemporaryDirectory(dir=args.work) as name:
        folder = pathlib.Path(name).resolve()
        (folder / "bench.yaml").write_text("model: {family: gpt}\n")
        write_tokens(args, folder / "tokens.h5", 200_001)
        for shape, plan in CASES:
            if args.only and plan not in args.only:
                continue
            summary = found_or_run(args, folder, shape, plan)
            measured = statistics.median(row["step_s"] for row in summary["steps"][2:])
            predicted = summary["predicted_step_s"]
            errors.append(predicted / measured - 1)
            same = summary["predicted_peak_bytes"] == summary["measured_peak_bytes"]
            print(f"| {shape} | {plan} | {predicted:.3f} | {measured:.3f} | "
                  f"{100 * errors[-1]:+.1f} % | {'equal' if same else 'DIFFER'} | "
                  f"{100 * summary['others_cpu']:.0f} % |", flush=True)
            if args.ops:
                for kind, op in summary["ops"].items():
                    print(f"    {kind}: {op['predicted_s']:.4f} {op['measured_s']:.4f}")
    sizes = sorted(abs(error) for error in errors)
    print(f"\n{len(sizes)} runs: median {100 * statistics.median(sizes):.1f} %, p90 "
          f"{100 * sizes[int(0.9 * (len(sizes) - 1))]:.1f} %, worst {100 * sizes[-1]:.1f} %")


if __name__ == "__main__":
    main()
