#!/usr/bin/env python3
"""What SSDTrain's forwarding would gain beside static plans; prints Markdown tables.

    tests/bench/forwarding.py build/bin/spillway build/bin/spillway_bench_reloads
        [--machine NAME] [--rates GB/S ...] [--shapes HIDDENxLAYERS ...] [--families NAME ...]

SSDTrain (arXiv 2408.10013) uses a tensor from memory if it is still being stored when it is needed.
A static plan would rather not store it. GPTs, BERTs and T5s of the paper's shapes are planned for
drives of all rates that are asked for, once as `auto` chooses and once with plan.activations=nvme.
Nothing is run; all times are simulated. Drives read 1.3 times as fast as they write. The host has
room for the rings of the drive and little else. The device has the bytes with which activations all
made again fit and, in percent (`room`), so much of what keeping them all takes more. Counts are of
all models, micro-batches and rooms.

late: reloads whose write ends less than the reload's own time before the op that needs them.
forwardable: those of them whose write has not ended by then.
waits: the part of the step for which ops wait for late reloads, which forwarding gains at most.
kept: how much less a step takes if the last layers stay that leave now, as many as is best, on a
device with as many bytes as this plan's peak; 0 if none of these plans fits there or is faster.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
READ_PER_WRITE = 1.3
ROOM = (20, 50)  # percent
MICROS = (16, 4)  # of 16 sequences a step
FAMILIES = {"gpt": {"model.heads": 64, "model.vocab": 50304},
            "bert": {"model.heads": 64, "model.vocab": 30528},
            "t5": {"model.heads": 64, "model.vocab": 32128}}
COMMON = {"optim.moments": "bf16", "optim.gradients": "bf16", "data.train": "none.h5",
          "data.valid": "none", "data.sequence": 1024, "batch.sequences": 16}
# As `auto`, and with the activations of all layers sent to the drive, whatever that takes.
MODES = {"auto": {}, "nvme": {"plan.activations": "nvme"}}


def machine_with(work, name, gbps):
    """A copy of a machine file with one rank, much memory and a drive of another rate."""
    text = (ROOT / f"input/machines/{name}.yaml").read_text()
    read = READ_PER_WRITE * gbps
    for key, value in {"write": gbps, "read": read, "both": read}.items():
        text = re.sub(rf"{key}_gbps: [0-9.e]+", f"{key}_gbps: {value}", text)
    text = re.sub(r"(device|host|nvme): \S+B\b", r"\1: 10TB", text)
    path = work / f"{name}-{gbps}.yaml"
    path.write_text(re.sub(r"ranks: \d+", "ranks: 1", text))
    return path


class Question:
    """A model, which is planned for a machine with some more keys."""

    def __init__(self, args, work, family, shape, micro):
        hidden, layers = shape.split("x")
        self.args, self.work = args, work
        self.keys = COMMON | FAMILIES[family] | {
            "model.family": family, "model.hidden": hidden, "model.layers": layers,
            "batch.micro": micro}
        if family == "t5":  # half of the layers are the decoder's
            self.keys["model.layers"] = self.keys["model.decoder_layers"] = int(layers) // 2
        (work / "input.yaml").write_text("{}\n")

    def ask(self, machine, keys, *more):
        """What `plan --json` says, or None where nothing fits."""
        words = [f"{key}={value}" for key, value in (self.keys | keys).items()]
        done = subprocess.run(
            [self.args.spillway, "plan", str(self.work / "input.yaml"), "--machine", str(machine),
             "--json", *more, *words], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            sys.exit(done.stderr)
        return done.stdout if done.returncode == 0 else None

    def budgets(self, machine, room):
        all_of = json.loads(self.ask(machine, {}, "--compare"))["alternatives"]
        least, most = (all_of[name]["peak_bytes"]["device"]
                       for name in ("all-recompute", "all-keep"))
        return {"memory.device": least + room * (most - least) // 100,
                "memory.host": max(4096, all_of["all-nvme"]["peak_bytes"]["host"])}

    def reloads(self, machine, budgets, saved):
        program = self.work / "program.json"
        program.write_text(self.ask(machine, budgets | {"plan.file": saved}, "--items"))
        done = subprocess.run([self.args.reloads, str(program), str(machine)],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def best_kept(self, machine, budgets, saved):
        """How many layers leave, and the shortest step if the last ones of them stay."""
        lines = saved.read_text().splitlines()
        first = lines.index("activations:") + 1
        last = next(i for i in range(first, len(lines)) if not lines[i].startswith("  - "))
        leaving = [i for i in range(first, last) if re.search("nvme|host", lines[i])]
        steps = []
        for line in reversed(leaving):
            lines[line] = "  - keep"
            other = self.work / "kept.yaml"
            other.write_text("\n".join(lines) + "\n")
            text = self.ask(machine, budgets | {"plan.file": other})
            steps += [json.loads(text)["predicted"]["step_s"]] if text else []
        return len(leaving), min(steps, default=None)


def outcome(question, machine, budgets, mode):
    """What `spillway_bench_reloads` says, with `leaving`, `step_s`, `waits` and `gained` in %."""
    saved = question.work / "plan.yaml"
    text = question.ask(machine, budgets | MODES[mode], "--save", str(saved), "--force")
    if not text:
        return None
    found = json.loads(text)["predicted"]
    peak = budgets | {"memory.device": found["peak_bytes"]["device"]}
    late = question.reloads(machine, budgets, saved)
    leaving, kept_s = question.best_kept(machine, peak, saved)
    return late | {"leaving": leaving, "step_s": found["step_s"],
                   "waits": 100 * late["wait_s"] / late["step_s"],
                   "gained": max(0, 100 * (1 - kept_s / found["step_s"])) if kept_s else 0}


def outcomes(args, work, mode, gbps):
    """Those of all questions, by the question in words."""
    machine = machine_with(work, args.machine, gbps)
    for family in args.families:
        for shape in args.shapes:
            for micro in MICROS:
                question = Question(args, work, family, shape, micro)
                for room in ROOM:
                    found = outcome(question, machine, question.budgets(machine, room), mode)
                    yield f"{family} {shape}, micro {micro}, room {room} %", found


def table(args, work, mode):
    print(f"\n{args.machine}, plan.activations={mode}:\n\n| written, GB/s | plans | that spill | "
          "reloads | late | forwardable | most waits | most kept |\n|" + " --- |" * 8)
    notable = []
    for gbps in args.rates:
        found = {words: one for words, one in outcomes(args, work, mode, gbps) if one}
        total = {key: sum(one[key] for one in found.values())
                 for key in ("reloads", "late", "forwardable")}
        most = {key: max((one[key] for one in found.values()), default=0)
                for key in ("waits", "gained")}
        spill = sum(one["reloads"] > 0 for one in found.values())
        print(f"| {gbps:g} | {len(found)} | {spill} | {total['reloads']} | {total['late']} | "
              f"{total['forwardable']} | {most['waits']:.1f} % | {most['gained']:.1f} % |",
              flush=True)
        notable += [f"- {gbps:g} GB/s, {words}: {one['step_s']:.3g} s, {one['leaving']} layers "
                    f"leave, {one['late']} of {one['reloads']} reloads are late, waits "
                    f"{one['waits']:.1f} %, kept {one['gained']:.1f} %"
                    for words, one in found.items() if max(one["waits"], one["gained"]) >= 1]
    if mode == "auto":
        print("\nPlans with 1 % or more of either:", "none" if not notable else "")
        print("\n".join(notable))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spillway")
    parser.add_argument("reloads")
    parser.add_argument("--machine", default="a100-80")
    parser.add_argument("--rates", nargs="*", type=float, default=[0.5, 1, 2, 4, 8, 16, 32])
    parser.add_argument("--shapes", nargs="*", default=["8192x4", "12288x3", "16384x2"])
    parser.add_argument("--families", nargs="*", default=list(FAMILIES))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for mode in MODES:
            table(args, pathlib.Path(folder), mode)


if __name__ == "__main__":
    main()
