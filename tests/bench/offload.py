#!/usr/bin/env python3
"""Steps of one model under several plans, alternating in one run; prints a Markdown table.

    tests/bench/offload.py build/bin/spillway --case activations [--rounds 3] [KEY=VALUE ...]
    tests/bench/offload.py build/bin/spillway --case 1.5b --activations nvme light
        [--updates host device] [--gradients fp32] [--resident 0 16] [--deepspeed PYTHON] --work DIR

Every round runs every variant once, one after the other, each in a process of its own, every other
round backwards. Step time is the median of all rounds' steps but the first two of each; ratios are
taken within a round (their median, least and largest).
KEY=VALUE comes after a variant's own keys. Losses are compared, to the bit, with those of the first
variant that stores gradients alike. Tokens are random. Nothing is evaluated; a run writes one
checkpoint, at its end, below DIR, where the spill file is too: 12 bytes a parameter, and nearly as
many; both are gone after the run. GB/s: while a transfer of that direction was under way.

With --deepspeed, deepspeed_nvme.py is run by that interpreter as one more variant; what it needs
more goes into --deepspeed-arguments="--checkpointing".
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from compare_pytorch import VOCAB, write_tokens
from runs import in_turns, reported

GIB = 2**30
COLUMNS = ["variant", "step, s (each round)", "tokens/s", "times the first", "peak GiB",
           "planned GiB", "off by", "written / read, GB a step", "write / read, GB/s", "stall, s",
           "same losses"]


class Case:
    def __init__(self, shape, sequences, sequence, steps, variants, keys=()):
        self.layers, self.hidden, self.heads = shape
        self.sequences, self.sequence, self.steps = sequences, sequence, steps
        self.variants, self.keys = variants, dict(keys)

    def tokens(self):
        return self.sequences * self.sequence

    def parameters(self):
        blocks = self.layers * (12 * self.hidden + 13) * self.hidden
        return blocks + (VOCAB + self.sequence + 2) * self.hidden


def activations(words):
    return {word: {"plan.activations": word} for word in words}


def state_variants(args):
    return {f"update {update}, {acts}, gradients {gradients}, {resident} chunks' state resident":
            {"plan.update": update, "plan.activations": acts, "optim.gradients": gradients,
             "plan.optimizer": f"[{'device, ' * resident}nvme]"}
            for gradients in args.gradients for resident in args.resident
            for acts in args.activations for update in args.updates}


def cases(args):
    state, away = state_variants(args), {"memory.host": "1GiB"}
    words = ["keep", "nvme", "recompute", "light", "light+nvme", "nvme:0.5"]
    unchecked = {"nvme unchecked": {"plan.activations": "nvme", "spill.checksum": "false"}}
    small = (12, 768, 12)
    return {
        "activations": Case(small, 4, 1024, 6, activations(words) | unchecked),
        "1.5b": Case((48, 1600, 25), 2, 512, 5, state, away),
        "2.7b": Case((32, 2560, 32), 1, 512, 5, state, away),
        "tiny": Case((2, 128, 2), 2, 64, 4, activations(words) | state, away),
    }


def median_step_s(steps):
    return statistics.median(steps[2:])


def run(command, what):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{what}: exit {done.returncode}\n{done.stderr[-3000:]}")
    return done.stdout


def require_space(case, folder):
    """The checkpoint, and a spill file that holds the optimizer state at most, and activations."""
    needed = 12 * case.parameters() * 2 + 4 * GIB
    free = shutil.disk_usage(folder).free
    if free < needed:
        sys.exit(f"{folder}: {needed / GIB:.0f} GiB are needed, {free / GIB:.0f} are free")


def run_spillway(args, case, folder, keys):
    run_dir = folder / "run"
    overrides = {
        "model.layers": case.layers, "model.hidden": case.hidden, "model.heads": case.heads,
        "model.vocab": VOCAB, "data.train": folder / "tokens.h5", "data.sequence": case.sequence,
        "batch.sequences": case.sequences, "batch.micro": case.sequences, "precision": "bf16",
        "optim.clip": 1.0, "optim.warmup": 1, "run.steps": args.steps or case.steps,
        "run.dir": run_dir, "run.log.every": 1, "run.checkpoint.every": 0,
        "memory.nvme": f"{{path: {folder}, size: 64GiB}}",
    } | case.keys | keys | dict(text.split("=", 1) for text in args.overrides)
    require_space(case, folder)
    command = [args.spillway, "train", folder / "bench.yaml"]
    try:
        run(command + [f"{key}={value}" for key, value in overrides.items()], "spillway")
        rows, summary = reported(run_dir)
    finally:
        shutil.rmtree(run_dir, ignore_errors=True)
    predicted, spill = summary["predicted_peak_bytes"], summary["spill"]
    middle = {name: statistics.median(row[name] for row in rows[2:])
              for name in ("spilled_bytes", "reloaded_bytes", "stall_s")}
    return middle | {
        "step_s": [row["step_s"] for row in rows], "losses": [row["loss_hex"] for row in rows],
        "peak": summary["peak_rss_bytes"], "gbps": (spill["write_gbps"], spill["read_gbps"]),
        "planned": predicted["device"] + predicted["host"] + summary["outside_bytes"],
    }


def run_deepspeed(args, case, folder):
    script = pathlib.Path(__file__).parent / "deepspeed_nvme.py"
    command = [args.deepspeed, script, "--nvme", folder, "--steps", args.steps or case.steps]
    for name in ("layers", "hidden", "heads", "sequences", "sequence"):
        command += [f"--{name}", getattr(case, name)]
    output = run(command + args.deepspeed_arguments.split(), "deepspeed")
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {"step_s": [row["step_s"] for row in rows if "step_s" in row],
            "peak": rows[-1]["peak_rss_bytes"]}


def rounds(args, case, folder):
    """For every variant, its results of all rounds."""
    runners = {name: lambda keys=keys: run_spillway(args, case, folder, keys)
               for name, keys in case.variants.items()}
    if args.deepspeed:
        runners["DeepSpeed"] = lambda: run_deepspeed(args, case, folder)

    def one_run(number, name):
        result = runners[name]()
        step_s = median_step_s(result["step_s"])
        print(f"round {number}: {name} {step_s:.3f} s", file=sys.stderr, flush=True)
        return result

    return in_turns(args.rounds, runners, one_run)


def spillway_cells(all_rounds, references):
    """Of what only spillway tells: the last round's, and whether every round's losses are equal."""
    last, peak = all_rounds[-1], max(r["peak"] for r in all_rounds)
    same = all(r["losses"] == references[0]["losses"] for r in all_rounds)
    middle = {name: statistics.median(r[name] for r in all_rounds)
              for name in ("spilled_bytes", "reloaded_bytes", "stall_s")}
    gbps = [statistics.median(rates) for rates in zip(*(r["gbps"] for r in all_rounds))]
    return [f"{last['planned'] / GIB:.3f}", f"{100 * (peak / last['planned'] - 1):+.2f} %",
            f"{middle['spilled_bytes'] / 1e9:.3f} / {middle['reloaded_bytes'] / 1e9:.3f}",
            f"{gbps[0]:.2f} / {gbps[1]:.2f}", f"{middle['stall_s']:.3f}", "yes" if same else "NO"]


def print_table(args, case, results):
    print(f"{args.case}: {case.layers} x {case.hidden}, {case.sequences} x {case.sequence} tokens "
          f"a step, {args.rounds} rounds of {args.steps or case.steps} steps"
          f"{', ' + ' '.join(args.overrides) if args.overrides else ''}\n")
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    steps = {name: [median_step_s(r["step_s"]) for r in every] for name, every in results.items()}
    first, references = next(iter(steps.values())), {}
    for name, every in results.items():
        step_s = statistics.median(s for r in every for s in r["step_s"][2:])
        ratios = [own / base for own, base in zip(steps[name], first)]
        cells = [name, f"{step_s:.3f} ({', '.join(f'{s:.3f}' for s in steps[name])})",
                 f"{case.tokens() / step_s:.0f}",
                 f"{statistics.median(ratios):.3f} ({min(ratios):.2f} to {max(ratios):.2f})",
                 f"{max(r['peak'] for r in every) / GIB:.3f}"]
        stored = case.variants.get(name, {}).get("optim.gradients", "fp32")
        if name in case.variants:
            cells += spillway_cells(every, references.setdefault(stored, every))
        print(f"| {' | '.join(cells + [''] * (len(COLUMNS) - len(cells)))} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spillway")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE")
    parser.add_argument("--case", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, help="instead of the case's own number; at least 3")
    parser.add_argument("--sequences", type=int, help="a step, instead of the case's own number")
    parser.add_argument("--only", nargs="*", help="variants, by name")
    parser.add_argument("--work", default=".", help="directory for tokens, spill file and run")
    parser.add_argument("--activations", nargs="*", default=["nvme", "light", "recompute"])
    parser.add_argument("--updates", nargs="*", default=["host", "device"])
    parser.add_argument("--gradients", nargs="*", default=["fp32", "bf16"])
    parser.add_argument("--resident", nargs="*", type=int, default=[0],
                        help="of how many chunks optimizer state stays in memory")
    parser.add_argument("--deepspeed", metavar="PYTHON")
    parser.add_argument("--deepspeed-arguments", default="", help="for deepspeed_nvme.py")
    args = parser.parse_intermixed_args()
    case = cases(args)[args.case]
    case.sequences = args.sequences or case.sequences
    if args.only:
        case.variants = {name: case.variants[name] for name in args.only}
    with tempfile.TemporaryDirectory(dir=args.work) as folder:
        folder = pathlib.Path(folder).resolve()
        (folder / "bench.yaml").write_text("model: {family: gpt}\n")
        write_tokens(args, folder / "tokens.h5", 40 * case.tokens() + 1)
        print_table(args, case, rounds(args, case, folder))


if __name__ == "__main__":
    main()
