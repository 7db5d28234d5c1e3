#!/usr/bin/env python3
"""GPT-2 124M training, spillway beside PyTorch, alternating in one run; prints medians and ratios.

    tests/bench/compare_pytorch.py [--precision fp32] [--rounds 5] [--sequences 2 --sequence 1024]

Every round runs spillway, PyTorch eager, PyTorch compiled and the step's matrix products alone, one
after the other, each in a process of its own; ratios are taken within a round.
Needs `torch` and `transformers`; installs nothing. PyTorch runs as its users run it: fused AdamW,
scaled-dot-product attention, autocast, clipping by global norm.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time

VOCAB = 50257


def write_tokens(path, count):
    """An llm.c token file: 256 int32 of header, then uint16 tokens."""
    header = [20240520, 1, count] + [0] * 253
    rng = random.Random(1)
    tokens = [rng.randrange(VOCAB) for _ in range(count)]
    path.write_bytes(struct.pack("<256i", *header) + struct.pack(f"<{count}H", *tokens))


def torch_round(args):
    """Runs in a process of its own; prints one JSON list of step seconds."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
                        n_positions=max(1024, args.sequence))
    model = GPT2LMHeadModel(config).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    forward = torch.compile(model) if args.compile else model
    seconds = []
    for _ in range(args.steps):
        tokens = torch.randint(0, VOCAB, (args.sequences, args.sequence))
        start = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=args.precision == "bf16"):
            loss = forward(input_ids=tokens, labels=tokens).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        seconds.append(time.perf_counter() - start)
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peak_bytes": peak_bytes}))


def rate(args, seconds):
    """Tokens a second of the median step; the first ones compile and touch memory."""
    return args.sequences * args.sequence / statistics.median(seconds[2:])


def run_torch(args, compiled):
    command = [sys.executable, __file__, "--torch-round", "--precision", args.precision,
               "--steps", str(args.steps), "--sequences", str(args.sequences),
               "--sequence", str(args.sequence)]
    command += ["--compile"] if compiled else []
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result = json.loads(output.splitlines()[-1])
    return rate(args, result["seconds"]), result["peak_bytes"]


def run_products(args):
    """Tokens a second if nothing but the products took time: by oneDNN, and by ours."""
    program = pathlib.Path(args.spillway).parent / "spillway_bench_products"
    command = [program, args.precision, str(args.sequences * args.sequence), "3"]
    environment = {**os.environ, "OMP_PROC_BIND": "false", "OMP_WAIT_POLICY": "passive"}
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    result = json.loads(output.stdout.splitlines()[-1])
    return result["onednn_tokens_per_s"], result["products_tokens_per_s"]


def run_spillway(args, folder, round_number):
    run_dir = folder / f"run-{round_number}"
    overrides = {
        "model.layers": 12, "model.hidden": 768, "model.heads": 12, "model.vocab": VOCAB,
        "data.train": folder / "tokens.bin", "data.sequence": args.sequence,
        "batch.sequences": args.sequences, "batch.micro": args.sequences,
        "precision": args.precision,
        "optim.warmup": 1, "run.steps": args.steps, "run.dir": run_dir, "run.log.every": 1,
        "run.checkpoint.every": 0, "memory.device": "8GiB", "plan.activations": args.activations,
        "memory.nvme": f"{{path: {folder}, size: 8GiB}}",
    }
    config = folder / "bench.yaml"
    config.write_text("model: {family: gpt}\n")
    command = [args.spillway, "train", config]
    command += [f"{key}={value}" for key, value in overrides.items()]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    rows = [json.loads(line) for line in (run_dir / "metrics.jsonl").read_text().splitlines()]
    summary = json.loads((run_dir / "summary.json").read_text())
    return rate(args, [row["step_s"] for row in rows]), summary["peak_rss_bytes"]


def rounds(args, folder):
    """For every runner, its figures of all rounds."""
    runners = {"spillway": lambda number: run_spillway(args, folder, number)}
    for how in args.against:
        runners[f"PyTorch {how}"] = lambda _, how=how: run_torch(args, how == "compiled")
    figures = {name: [] for name in (*runners, "oneDNN's products alone", "our products alone")}
    for number in range(args.rounds):
        for name, run in runners.items():
            figures[name].append(run(number))
        for name, tokens_per_s in zip(list(figures)[-2:], run_products(args)):
            figures[name].append((tokens_per_s, None))
        shown = ", ".join(f"{name} {values[-1][0]:.0f}" for name, values in figures.items())
        print(f"round {number}: {shown}", file=sys.stderr, flush=True)
    return figures


def print_table(args, figures):
    print(f"{args.precision}, {args.sequences} x {args.sequence}, {args.activations}, "
          f"{args.rounds} rounds of {args.steps} steps\n")
    print("| | tokens/s, median (all rounds) | spillway is, median | peak resident |")
    print("| --- | --- | --- | --- |")
    ours = [tokens_per_s for tokens_per_s, _ in figures["spillway"]]
    for name, values in figures.items():
        rates = [tokens_per_s for tokens_per_s, _ in values]
        ratio = statistics.median(a / b for a, b in zip(ours, rates))
        peak = f"{max(p for _, p in values) / 2**30:.2f} GiB" if values[0][1] else ""
        every = ", ".join(f"{r:.0f}" for r in rates)
        print(f"| {name} | {statistics.median(rates):.0f} ({every}) "
              f"| {'' if name == 'spillway' else f'{ratio:.2f} x'} | {peak} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--spillway", default="build/bin/spillway")
    parser.add_argument("--precision", default="bf16", choices=["bf16", "fp32"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--sequences", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=512)
    parser.add_argument("--activations", default="keep")
    parser.add_argument("--against", nargs="*", default=["eager", "compiled"],
                        choices=["eager", "compiled"])
    parser.add_argument("--compile", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--torch-round", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.torch_round:
        torch_round(args)
        return
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        folder = pathlib.Path(folder)
        write_tokens(folder / "tokens.bin", 40 * args.sequences * args.sequence + 1)
        print_table(args, rounds(args, folder))


if __name__ == "__main__":
    main()
