#!/usr/bin/env python3
"""Steps that keep activations beside steps that may hold only some; prints a Markdown table.

    tests/bench/spilled.py build/bin/spillway [--models gpt2 bert-base t5-small] [--less 0.47]
        [--rounds 7] [--steps 12] --work DIR [KEY=VALUE ...]

For each model first a plan that keeps all activations says what they need at the peak. Then three
variants take turns, every other round backwards, each run in a process of its own: `keep`, `nvme`,
which spills all that may leave, and `auto`, whose budget is less than what keeping needs by that
share of the activations. Parameters, gradients and optimizer state stay where they are in all of
them. A step's time is the median of a run's steps but the first two; ratios are taken within a
round. Losses must be those of `keep`, to the bit. Text is random bytes.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import sys
import tempfile

from compare_pytorch import MODELS, output_of, write_tokens
from runs import in_turns, reported

GIB = 2**30
SEQUENCES = {"gpt2": (4, 1024), "bert-base": (8, 512), "t5-small": (16, 512)}
COLUMNS = ["model", "plan", "activations at the peak, GiB", "less", "device peak, GiB: planned",
           "measured", "step, s", "times keeping (least to most)", "predicted, s",
           "spilled a step, GB", "stall, s", "same losses"]
STAYS = {"plan.parameters": "device", "plan.gradients": "device", "plan.optimizer": "device"}


def words(args, folder, model, variant):
    sequences, sequence = SEQUENCES[model]
    keys = {f"model.{key}": value for key, value in MODELS[model][0].items()} | {
        "data.train": folder / "tokens.h5", "data.sequence": sequence, "batch.sequences": sequences,
        "batch.micro": sequences, "precision": "bf16", "optim.warmup": 1, "run.steps": args.steps,
        "run.log.every": 1, "run.checkpoint.every": 0, "memory.device": "16GiB",
        "memory.nvme": f"{{path: {folder}, size: 16GiB}}"} | STAYS | variant
    if MODELS[model][0]["family"] == "bert":
        keys["data.mask_id"] = 103
    texts = [f"{key}={value}" for key, value in keys.items() if key != "model.family"]
    return [folder / f"{model}.yaml", *texts, *args.overrides]


def planned(args, folder, model, variant):
    command = [args.spillway, "plan", "--json", *words(args, folder, model, variant)]
    return json.loads(output_of([str(part) for part in command]))


def trained(args, folder, model, variant):
    run_dir = folder / "run"
    command = [args.spillway, "train", *words(args, folder, model, variant), f"run.dir={run_dir}"]
    try:
        output_of([str(part) for part in command])
        rows, summary = reported(run_dir)
    finally:
        shutil.rmtree(run_dir, ignore_errors=True)
    middle = {name: statistics.median(row[name] for row in rows[2:])
              for name in ("step_s", "spilled_bytes", "stall_s")}
    return middle | {"losses": [row["loss_hex"] for row in rows],
                     "peak": summary["measured_peak_bytes"]["device"]}


def variants_of(args, folder, model):
    """The three variants' keys, and what their plans say."""
    keep = {"plan.activations": "keep"}
    whole = planned(args, folder, model, keep)
    budget = int(whole["predicted"]["peak_bytes"]["device"]
                 - args.less * whole["at_peak"]["device"]["activations"])
    keys = {"keep": keep, "nvme": {"plan.activations": "nvme"},
            "auto": {"memory.device": f"{budget}B"}}
    return keys, {name: planned(args, folder, model, key) for name, key in keys.items()}


def rounds(args, folder, model, keys):
    def one_run(number, name):
        result = trained(args, folder, model, keys[name])
        print(f"{model}, round {number}: {name} {result['step_s']:.3f} s", file=sys.stderr,
              flush=True)
        return result

    return in_turns(args.rounds, keys, one_run)


def policies(plan):
    """How many layers have each policy, such as `3 keep, 9 nvme`."""
    lines = [line.split("#")[0].strip(" -") for line in
             plan["plan"].split("activations:")[1].split("parameters:")[0].splitlines()]
    counts = {policy: lines.count(policy) for policy in dict.fromkeys(lines) if policy}
    return ", ".join(f"{count} {policy}" for policy, count in counts.items())


def print_rows(model, plans, results):
    kept = plans["keep"]["at_peak"]["device"]["activations"]
    for name, runs in results.items():
        plan, last = plans[name], runs[-1]
        at_peak = plan["at_peak"]["device"]["activations"]
        ratios = [run["step_s"] / base["step_s"] for run, base in zip(runs, results["keep"])]
        same = all(run["losses"] == results["keep"][0]["losses"] for run in runs)
        cells = [model, f"{name}: {policies(plan)}", f"{at_peak / GIB:.3f}",
                 f"{100 * (1 - at_peak / kept):.0f} %",
                 f"{plan['predicted']['peak_bytes']['device'] / GIB:.3f}",
                 f"{last['peak'] / GIB:.3f}",
                 f"{statistics.median(run['step_s'] for run in runs):.3f}",
                 f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})",
                 f"{plan['predicted']['step_s']:.3f}", f"{last['spilled_bytes'] / 1e9:.2f}",
                 f"{statistics.median(run['stall_s'] for run in runs):.3f}",
                 "yes" if same else "NO"]
        print(f"| {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spillway")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE")
    parser.add_argument("--models", nargs="*", default=list(SEQUENCES))
    parser.add_argument("--less", type=float, default=0.47)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--work", default=".", help="directory for tokens, spill file and run")
    args = parser.parse_intermixed_args()
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    with tempfile.TemporaryDirectory(dir=args.work) as folder:
        folder = pathlib.Path(folder).resolve()
        write_tokens(args, folder / "tokens.h5", 1 << 20)
        for model in args.models:
            family = MODELS[model][0]["family"]
            (folder / f"{model}.yaml").write_text(f"model: {{family: {family}}}\n")
            keys, plans = variants_of(args, folder, model)
            print_rows(model, plans, rounds(args, folder, model, keys))


if __name__ == "__main__":
    main()
