#!/usr/bin/env python3
"""The planner's choice and its best competitors, really run, alternating; prints a Markdown table.

    tests/bench/regret.py build/bin/spillway --work DIR [--results DIR] [--only NAME ...]
        [--rounds 3] [--others 4] [--plans]

For every case the machine is profiled once, the device's budget set between what the smallest of
the candidates needs and what keeping everything takes, and `plan: auto` planned. The candidates are
forced plans: activations x places of parameters and optimizer state x where the update runs. Of
those that fit and differ from the choice, --others that are predicted to be fastest are run. A
round runs the choice (A), them, and the choice again (A), every other round backwards, each in a
process of its own. A plan's step is the median of all its runs' steps but the first two of each.

Regret: how much longer the choice takes than the fastest plan that was run; it should be below 2 %
or below what two measurements of one plan differ by in 95 % of all cases, from the spread of A's
runs. What was planned and measured stays in --results, a file a case; what is there is not done
again. --plans: only profiles and plans.
"""
import argparse
import itertools
import json
import math
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from runs import reported

MIB = 2**20
CANNOT_FIT = 3
# model, batch, share of the way from the smallest budget to keeping everything, other keys
CASES = {
    "deep, roomy": ((8, 256, 4, 4096), (256, 8, 8), 0.7, {}),
    "deep, tight": ((8, 256, 4, 4096), (256, 8, 8), 0.15, {}),
    "wide": ((3, 1024, 16, 8192), (128, 8, 8), 0.4, {}),
    "4 micro-batches": ((6, 512, 8, 4096), (256, 8, 2), 0.4, {}),
    "fp32": ((6, 384, 6, 4096), (256, 4, 4), 0.3, {"precision": "fp32"}),
    "long": ((4, 512, 8, 4096), (1024, 2, 2), 0.3, {}),
    "mostly state": ((4, 768, 12, 16384), (128, 2, 2), 0.3, {}),
    "no drive": ((8, 384, 6, 4096), (256, 8, 8), 0.3, {"memory.nvme": "none"}),
    "host memory": ((6, 512, 8, 4096), (256, 8, 8), 0.2, {"memory.host": "256MiB"}),
    "no clip": ((6, 512, 8, 4096), (256, 8, 4), 0.1, {"optim.clip": 0}),
}
ACTIVATIONS = ["keep", "light", "recompute", "nvme", "light+nvme", "nvme:0.5", "host",
               "[nvme, keep]", "[recompute, keep]", "[light, keep]", "[light+nvme, light]"]
# parameters, optimizer, update
STATES = [("device", "device", "device"), ("device", "nvme", "device"), ("device", "nvme", "host"),
          ("nvme", "nvme", "device"), ("nvme", "nvme", "host"), ("device", "host", "host"),
          ("device", "[device, nvme]", "device")]


def forced_plans(tiers):
    """Those that need no tier but these."""
    for activations, (parameters, optimizer, update) in itertools.product(ACTIVATIONS, STATES):
        places = f"{activations} {parameters} {optimizer}"
        if any(tier in places and tier not in tiers for tier in ("host", "nvme")):
            continue
        keys = {"plan.activations": activations, "plan.parameters": parameters,
                "plan.gradients": "device", "plan.optimizer": optimizer, "plan.update": update}
        yield f"{activations}; {parameters}, {optimizer}, {update}", keys


class Bench:
    def __init__(self, args, folder, name):
        (layers, hidden, heads, vocab), (sequence, sequences, micro), self.share, keys = CASES[name]
        self.args, self.folder, self.name = args, folder, name
        self.plan_file, self.machine = folder / "plan.yaml", folder / "machine.yaml"
        (folder / "text").write_bytes(random.Random(1).randbytes(40 * sequence * sequences + 1))
        subprocess.run([args.spillway, "tokenize", folder / "text", "-o", folder / "tokens.h5"],
                       check=True, capture_output=True)
        self.keys = {
            "model.layers": layers, "model.hidden": hidden, "model.heads": heads,
            "model.vocab": vocab, "data.train": folder / "tokens.h5", "data.sequence": sequence,
            "batch.sequences": sequences, "batch.micro": micro, "precision": "bf16",
            "run.steps": args.steps, "run.dir": folder / "run", "run.log.every": 1,
            "run.checkpoint.every": 0, "memory.nvme": f"{{path: {folder}, size: 4GiB}}"} | keys
        self.tiers = [tier for tier in ("host", "nvme")
                      if self.keys.get(f"memory.{tier}", "none") != "none"]

    def spillway(self, command, keys, *options):
        overrides = [f"{key}={value}" for key, value in (self.keys | keys).items()]
        line = [self.args.spillway, command, self.folder / "bench.yaml", *overrides, *options]
        done = subprocess.run([str(part) for part in line], capture_output=True, text=True)
        if done.returncode not in (0, CANNOT_FIT):
            sys.exit(f"{self.name}, {keys}: exit {done.returncode}\n{done.stderr[-3000:]}")
        return done.stdout if done.returncode == 0 else None

    def planned(self, keys):
        """Text, predicted step and device bytes of a plan; None: it does not fit."""
        output = self.spillway("plan", keys, "--machine", self.machine, "--json",
                               "--save", self.plan_file)
        if output is None:
            return None
        predicted = json.loads(output)["predicted"]
        return {"text": self.plan_file.read_text(), "predicted_s": predicted["step_s"],
                "device_bytes": predicted["peak_bytes"]["device"]}

    def plans(self):
        """The budget, the choice, and by name the best of the others."""
        self.spillway("profile", {}, "-o", self.machine)
        roomy = {"memory.device": "64GiB"}
        every = {name: self.planned(keys | roomy) for name, keys in forced_plans(self.tiers)}
        every = {name: plan for name, plan in every.items() if plan}
        least = min(plan["device_bytes"] for plan in every.values())
        kept = self.planned(roomy | {"plan.activations": "keep", "plan.optimizer": "device",
                                     "plan.parameters": "device"})["device_bytes"]
        budget = int(least + self.share * (kept - least))
        choice = self.planned({"memory.device": budget})
        if choice is None:
            sys.exit(f"{self.name}: nothing fits {budget} bytes, but a forced plan does")
        others, seen = {}, {choice["text"]}
        for name, plan in sorted(every.items(), key=lambda item: item[1]["predicted_s"]):
            if plan["device_bytes"] > budget or plan["text"] in seen:
                continue
            seen.add(plan["text"])
            others[name] = plan
        best = dict(list(others.items())[:self.args.others])
        return {"budget": budget, "least": least, "kept": kept, "fit": len(others),
                "plans": {"A": choice, "A again": choice} | best, "runs": {}}

    def steps(self, plan, budget):
        self.plan_file.write_text(plan["text"])
        self.spillway("train", {"plan.file": self.plan_file, "memory.device": budget})
        run_dir = self.folder / "run"
        rows, _ = reported(run_dir)
        shutil.rmtree(run_dir)
        return [row["step_s"] for row in rows][2:]

    def measure(self, results, file):
        for number in range(self.args.rounds):
            for name in list(results["plans"])[::-1 if number % 2 else 1]:
                runs = results["runs"].setdefault(name, [])
                if len(runs) > number:
                    continue
                runs.append(self.steps(results["plans"][name], results["budget"]))
                print(f"{self.name}: {name}: {statistics.median(runs[-1]):.4f} s",
                      file=sys.stderr, flush=True)
                keep(results, file)


def keep(results, file):
    if file:
        file.write_text(json.dumps(results))


def row(name, results):
    runs = dict(results["runs"])
    own = runs.pop("A") + runs.pop("A again")
    step_s = statistics.median(itertools.chain(*own))
    medians = [statistics.median(run) for run in own]
    # Of the choice's step, from all its runs, beside another's, from half as many.
    spread = statistics.stdev(medians) / statistics.mean(medians)
    noise = 1.96 * spread * math.sqrt(1 / len(own) + 2 / len(own))
    best, best_s = min(((other, statistics.median(itertools.chain(*every)))
                        for other, every in runs.items()), key=lambda item: item[1])
    regret = max(0, step_s / best_s - 1)
    predicted_s = results["plans"]["A"]["predicted_s"]
    print(f"| {name} | {results['budget'] / MIB:.0f} ({results['least'] / MIB:.0f} to "
          f"{results['kept'] / MIB:.0f}) | {results['fit']} | {predicted_s:.3f} | {step_s:.3f} | "
          f"{best_s:.3f} ({best}) | {100 * regret:.1f} % | {100 * noise:.1f} % | "
          f"{'yes' if regret <= max(0.02, noise) else 'NO'} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spillway")
    parser.add_argument("--work", default=".", help="directory for tokens, spill file and run")
    parser.add_argument("--results", help="directory that keeps what was planned and measured")
    parser.add_argument("--only", nargs="*", help="cases, by name")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--others", type=int, default=4)
    parser.add_argument("--plans", action="store_true", help="measure nothing")
    args = parser.parse_args()
    print("| case | budget, MiB (smallest to keeping) | others that fit | predicted, s | "
          "chosen, s | best other, s | regret | A/A, 95 % | within |\n" + "| --- " * 9 + "|")
    for name in args.only or CASES:
        with tempfile.TemporaryDirectory(dir=args.work) as folder:
            folder = pathlib.Path(folder).resolve()
            (folder / "bench.yaml").write_text("model: {family: gpt}\n")
            bench = Bench(args, folder, name)
            file = args.results and pathlib.Path(args.results) / f"{name}.json".replace(" ", "_")
            results = json.loads(file.read_text()) if file and file.exists() else bench.plans()
            keep(results, file)
            if args.plans:
                continue
            bench.measure(results, file)
            row(name, results)


if __name__ == "__main__":
    main()
