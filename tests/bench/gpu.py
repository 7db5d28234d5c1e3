#!/usr/bin/env python3
"""What a GPU gives spillway, as Markdown tables: each kernel beside its bound, links and drives,
steps beside their predictions.

    tests/bench/gpu.py --work DIR [--spillway build/bin/spillway] [--machine FILE] [--tiny]
                       [--shapes NAME...]

Kernels and links are read from a machine file that `spillway profile` writes to DIR, or from FILE.
A kernel's bound is the larger of two times: that of its operands' bytes, each moved once at the
device's measured rate, and that of its flops at the data sheet's peak (lib/run/data_sheet.cpp).
Steps are medians of all but the first two. Tokens are random. --shapes takes these models alone,
the first of which is profiled; --tiny takes sizes for a rehearsal.
"""
import argparse
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

from compare_pytorch import VOCAB, write_tokens
from runs import reported

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOES_NOT_FIT = 3  # spillway's exit status
SIZE_BYTES = {"bf16": 2, "f32": 4, "f64": 8, "i32": 4}
# name: layers, hidden, heads, sequence, sequences of a step, of a micro-batch
SHAPES = {"GPT-2 124M": (12, 768, 12, 1024, 32, 16), "GPT 1.5B": (48, 1600, 25, 1024, 8, 4)}
TINY = {"tiny GPT": (2, 32, 2, 32, 2, 2)}
PLANS = {
    "auto": {},
    "keep": {"plan.activations": "keep"},
    "recompute": {"plan.activations": "recompute"},
    "activations in host memory": {"plan.activations": "host"},
    "optimizer state in host memory": {"plan.optimizer": "host", "plan.update": "host"},
    "activations and state on NVMe": {"plan.activations": "nvme", "plan.optimizer": "nvme"},
}


def number(text):
    return None if text == "unknown" else float(text)


def read_machine(path):
    """The rates of a machine file by "section.key", and the seconds of its ops by their texts."""
    rates, ops, section = {}, {}, ""
    for line in path.read_text().splitlines():
        if line.startswith("#") or not line.strip() or line.strip().startswith("#"):
            continue
        key, value = line.rsplit(": ", 1) if ": " in line else (line.rstrip(":"), "")
        if not line.startswith(" "):
            section = key if not value else ""
        key, value = key.strip().strip('"'), value.strip('"')
        if section == "ops" and line.startswith(" "):
            ops[key] = float(value)
        elif value:
            rates[f"{section}.{key}" if line.startswith(" ") else key] = value
    return rates, ops


def data_sheet(device):
    """GFLOP/s in bf16 and fp32 and GB/s of memory; Nones if the device is not in the table."""
    text = (ROOT / "lib/run/data_sheet.cpp").read_text()
    row = r'\{"(NVIDIA [^"]*)", ([\d.e]+), ([\d.e]+), ([\d.e]+)\}'
    for name, *figures in re.findall(row, text):
        if name == device:
            return [float(figure) or None for figure in figures]
    return [None, None, None]


def tensors(text):
    """Type and extents of each operand of an op's text."""
    return [(kind, [int(n) for n in extents.split(",")])
            for kind, extents in re.findall(r"\b(bf16|f32|f64|i32)\[([\d,]*)\]", text)]


def product(numbers):
    result = 1
    for n in numbers:
        result *= n
    return result


def bytes_of(text):
    """What an op must move: its operands once, and what it changes in place twice."""
    operands = tensors(text)
    if text.startswith("embed "):  # of the tables only the rows of tokens
        return 2 * SIZE_BYTES[operands[-1][0]] * product(operands[-1][1])
    total = sum(SIZE_BYTES[kind] * product(extents) for kind, extents in operands)
    inputs = tensors(text.split("->")[0])
    in_place = re.search(r"in_place=([\d,]+)", text)
    for i in in_place[1].split(",") if in_place else []:
        if int(i) < len(operands) - len(inputs):
            kind, extents = operands[len(inputs) + int(i)]
            total += SIZE_BYTES[kind] * product(extents)
    return total


def flops_of(text):
    """Of an op's products; 0 for ops that have none."""
    kind, operands = text.split()[0], tensors(text)
    value = {key: int(n) for key, n in re.findall(r"(\w+)=(\d+)", text)}
    if kind == "matmul":
        (m, k), (_, n) = operands[0][1], operands[1][1]
        return 2 * m * k * n
    if kind in ("attention", "attention_backward"):
        pairs = value["batch"] * value["heads"] * value["queries"] * value["keys"]
        products = 2 if kind == "attention" else 5
        return 2 * products * pairs * value["head_size"] // (2 if value["causal"] else 1)
    if kind.startswith("lm_head_loss"):
        (rows, hidden), (vocab, _) = operands[0][1], operands[1][1]
        return 2 * rows * hidden * vocab * (3 if kind.endswith("backward") else 1)
    return 0


def kernels_table(rates, ops):
    device = rates.get("about.device", "")
    bf16, fp32, sheet_gbps = data_sheet(device)
    copy_gbps = number(rates["memory_gbps"])
    print(f"Kernels of {device or 'this machine'}, beside bytes at {copy_gbps:.0f} GB/s (measured; "
          f"data sheet: {f'{sheet_gbps:.0f}' if sheet_gbps else 'unknown'}) and flops at the data "
          f"sheet's {f'{bf16 / 1e3:.0f}' if bf16 else '?'} TFLOP/s in bf16, "
          f"{f'{fp32 / 1e3:.0f}' if fp32 else '?'} in fp32\n")
    print("| kernel | ms | GB/s | TFLOP/s | bound, ms | of the bound |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for text, seconds in sorted(ops.items(), key=lambda op: -op[1]):
        if text.startswith("host ") or not tensors(text):
            continue
        moved, flops = bytes_of(text), flops_of(text)
        peak = bf16 if tensors(text)[0][0] == "bf16" else fp32
        bounds = [moved / copy_gbps / 1e9] + ([flops / peak / 1e9] if flops and peak else [])
        is_open = flops and not peak
        name = re.sub(r" (form|in_place|tile|scale)=\S+", "", text).replace("|", "/")
        print(f"| `{name}` | {1e3 * seconds:.3f} | {moved / seconds / 1e9:.0f} "
              f"| {f'{flops / seconds / 1e12:.1f}' if flops else ''} "
              f"| {'unknown' if is_open else f'{1e3 * max(bounds):.3f}'} "
              f"| {'' if is_open else f'{100 * max(bounds) / seconds:.0f} %'} |")
    timed = {text.split()[0] for text in ops}
    for kind, rate in rates.items():  # of ops on whole chunks a machine file has the rate alone
        name = kind.removeprefix("kinds.").strip('"')
        if kind.startswith("kinds.") and not name.startswith("host ") and name not in timed:
            print(f"| `{name}`, all sizes | | {number(rate):.0f} | | "
                  f"| {100 * number(rate) / copy_gbps:.0f} % |")


def links_table(rates):
    print("\n| link | GB/s |\n| --- | ---: |")
    for key, name in {"links.h2d_gbps": "host to device", "links.d2h_gbps": "device to host",
                      "links.node_gbps": "between ranks of the node",
                      "nvme.write_gbps": "drive, writes", "nvme.read_gbps": "drive, reads",
                      "nvme.both_gbps": "drive, both at once",
                      "memory_gbps": "device memory"}.items():
        value = number(rates.get(key, "unknown"))
        print(f"| {name} | {'unknown' if value is None else f'{value:.1f}'} |")


def keys_of(args, shape, folder):
    layers, hidden, heads, sequence, sequences, micro = (TINY if args.tiny else SHAPES)[shape]
    return {"model.family": "gpt", "model.layers": layers, "model.hidden": hidden,
            "model.heads": heads, "model.vocab": 300 if args.tiny else VOCAB,
            "data.train": folder / "tokens.h5", "data.valid": "none", "data.sequence": sequence,
            "batch.sequences": sequences, "batch.micro": micro, "precision": "bf16",
            "run.device": args.device, "run.steps": args.steps, "run.log.every": 1,
            "run.checkpoint.every": 0, "run.eval.every": 0, "optim.warmup": 1,
            "memory.nvme": f"{{path: {folder}, size: {args.drive}}}"}


def command(args, verb, folder, keys):
    (folder / "gpu.yaml").write_text("model: {family: gpt}\n")
    return [str(part) for part in
            [args.spillway, verb, folder / "gpu.yaml", *(f"{k}={v}" for k, v in keys.items())]]


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1][:160].replace("|", "/") if lines else "it said nothing"


def step_row(args, folder, shape, plan):
    run_dir = folder / re.sub(r"\W+", "-", f"run {shape} {plan}")
    keys = keys_of(args, shape, folder) | {"run.dir": run_dir} | PLANS[plan]
    done = subprocess.run(command(args, "train", folder, keys), capture_output=True, text=True,
                          check=False)
    print(done.stdout + done.stderr, file=sys.stderr)
    if done.returncode == DOES_NOT_FIT:
        return f"| {shape} | {plan} | does not fit |||||||"
    if done.returncode != 0:
        return f"| {shape} | {plan} | exit {done.returncode}: {last_line(done.stderr)} |||||||"
    rows, summary = reported(run_dir)
    shutil.rmtree(run_dir)  # its checkpoint has 12 bytes a parameter
    step_s = statistics.median(row["step_s"] for row in rows[2:])
    predicted_s = summary["predicted_step_s"]
    _, _, _, sequence, sequences, _ = (TINY if args.tiny else SHAPES)[shape]
    mfus = [row["mfu"] for row in rows[2:] if row["mfu"]]
    peaks = summary["measured_peak_bytes"]
    same = summary["predicted_peak_bytes"] == peaks
    return (f"| {shape} | {plan} | {1e3 * step_s:.1f} | {1e3 * predicted_s:.1f} "
            f"| {100 * (predicted_s / step_s - 1):+.1f} % | {sequences * sequence / step_s:.0f} "
            f"| {f'{100 * statistics.median(mfus):.1f} %' if mfus else 'unknown'} "
            f"| {' / '.join(f'{peaks[tier] / 2**30:.2f}' for tier in ('device', 'host', 'nvme'))} "
            f"| {'equal' if same else 'DIFFER'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spillway", default="build/bin/spillway")
    parser.add_argument("--device", default="cuda:0", help="run.device")
    parser.add_argument("--work", required=True, help="folder for tokens, spill files and runs")
    parser.add_argument("--machine", help="a machine file of `spillway profile`, read in its place")
    parser.add_argument("--drive", default="64GiB", help="size of the spill file")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES), metavar="NAME",
                        help=", ".join(f'"{name}"' for name in SHAPES) + "; all, if left out")
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    folder = pathlib.Path(args.work).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    shapes = TINY if args.tiny else {name: SHAPES[name] for name in args.shapes}
    args.sequences = max(shape[4] for shape in shapes.values())
    args.sequence = max(shape[3] for shape in shapes.values())
    write_tokens(args, folder / "tokens.h5", 4 * args.sequences * args.sequence + 1)
    machine = pathlib.Path(args.machine or folder / "machine.yaml")
    failed = 0
    if not args.machine:
        keys = keys_of(args, next(iter(shapes)), folder)
        profile = [*command(args, "profile", folder, keys), "-o", str(machine), "--force"]
        done = subprocess.run(profile, capture_output=True, text=True, check=False)
        print(done.stdout + done.stderr, file=sys.stderr)
        if done.returncode != 0:
            sys.exit(f"profile exits {done.returncode}: {last_line(done.stderr)}")
    rates, ops = read_machine(machine)
    kernels_table(rates, ops)
    links_table(rates)
    print("\n| model | plan | step, ms | predicted, ms | off by | tokens/s | MFU "
          "| peak GiB: device / host / NVMe | as planned |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for shape in shapes:
        for plan in PLANS:
            row = step_row(args, folder, shape, plan)
            failed += "| exit " in row
            print(row, flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
