#!/usr/bin/env python3
"""How far the plans of input/ are from what no plan can be faster than; prints a Markdown table.

    tests/bench/bounds.py build/bin/spillway [--machines NAME ...] [--inputs NAME ...]
        [--ranks N ...]

Every input, and three large GPTs, are planned for every machine of input/machines and for --ranks
ranks: nothing is run, and all predictions are for those machines. The gap
is the part of a plan's step that a better plan might save at most, from `bound_s` of `plan --json`.
Next to it is what it consists of, in % of the step: by so much the bound is higher for plans with
the same places of chunks, and by so much more if activations are treated alike too; the rest.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Models that leave most devices with little room: name, layers, hidden size.
LARGE = {"10B": (48, 4096), "13B": (40, 5120), "30B": (48, 7168)}


def cases(inputs):
    """Names, input files and keys: those of input/, and GPTs of many parameters."""
    for path in sorted((ROOT / "input").glob("*.yaml")):
        if not inputs or path.stem in inputs:
            yield path.stem, path, []
    for name, (layers, hidden) in LARGE.items():
        for clip in (1, 0):
            if inputs and name not in inputs:
                continue
            keys = [f"model.layers={layers}", f"model.hidden={hidden}",
                    f"model.heads={hidden // 128}", "batch.sequences=8", f"optim.clip={clip}"]
            yield name + ("" if clip else ", no clip"), ROOT / "input/gpt.yaml", keys


def plan(args, path, keys, machine, ranks):
    command = [args.spillway, "plan", str(path), "--json", "--machine", str(machine), "--ranks",
               str(ranks), "data.train=none.h5", "data.valid=none", *keys]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    return json.loads(done.stdout) | {"wall_s": time.monotonic() - began}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spillway")
    parser.add_argument("--machines", nargs="*", default=[])
    parser.add_argument("--inputs", nargs="*", default=[])
    parser.add_argument("--ranks", type=int, nargs="*", default=[1])
    args = parser.parse_args()
    print("| input | machine | ranks | step | at least | gap | places, activations, waits | "
          "limit |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    gaps = []
    for name, path, keys in cases(args.inputs):
        for machine in sorted((ROOT / "input/machines").glob("*.yaml")):
            if args.machines and machine.stem not in args.machines:
                continue
            for ranks in args.ranks:
                found = plan(args, path, keys, machine, ranks)
                if not found:
                    print(f"| {name} | {machine.stem} | {ranks} | does not fit | | | | |")
                    continue
                now = found["predicted"]
                gap = 1 - now["bound_s"] / now["step_s"]
                gaps.append(gap)
                parts = ", ".join(f"{100 * s / now['step_s']:.1f}"
                                  for s in now["bound_gap_s"].values())
                print(f"| {name} | {machine.stem} | {ranks} | {now['step_s']:.3g} s | "
                      f"{now['bound_s']:.3g} s | {100 * gap:.1f} % | {parts} | "
                      f"{now['bound_limit']} |")
                sys.stdout.flush()
    print(f"\nMedian gap of {len(gaps)}: {100 * statistics.median(gaps):.1f} %, "
          f"largest {100 * max(gaps):.1f} %.")


if __name__ == "__main__":
    main()
