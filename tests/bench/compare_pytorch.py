#!/usr/bin/env python3
"""GPT-2 124M training, spillway beside PyTorch, alternating in one run; prints medians and ratios.

    tests/bench/compare_pytorch.py [--precision bf16] [--rounds 3] [--compile]

Needs `torch` and `transformers`; installs nothing. PyTorch runs as its users run it: fused AdamW,
scaled-dot-product attention, autocast, clipping by global norm.
"""
import argparse
import json
import os
import pathlib
import random
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
    print(json.dumps(seconds))


def run_torch(args):
    command = [sys.executable, __file__, "--torch-round", "--precision", args.precision,
               "--steps", str(args.steps), "--sequences", str(args.sequences),
               "--sequence", str(args.sequence)]
    command += ["--compile"] if args.compile else []
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


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
    return [row["step_s"] for row in rows], summary


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--spillway", default="build/bin/spillway")
    parser.add_argument("--precision", default="bf16", choices=["bf16", "fp32"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--sequences", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=512)
    parser.add_argument("--activations", default="keep")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--torch-round", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.torch_round:
        torch_round(args)
        return
    tokens = args.sequences * args.sequence
    ours, theirs = [], []
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        folder = pathlib.Path(folder)
        write_tokens(folder / "tokens.bin", 40 * tokens + 1)
        for number in range(args.rounds):
            seconds, summary = run_spillway(args, folder, number)
            ours.append(tokens / statistics.median(seconds[1:]))
            theirs.append(tokens / statistics.median(run_torch(args)[1:]))
            print(f"round {number}: spillway {ours[-1]:.0f} tokens/s, torch {theirs[-1]:.0f} "
                  f"tokens/s, ratio {ours[-1] / theirs[-1]:.2f}", flush=True)
    ratios = [a / b for a, b in zip(ours, theirs)]
    print(f"{args.precision} {args.sequences} x {args.sequence}, {args.activations}: spillway "
          f"{statistics.median(ours):.0f}, torch {'compiled' if args.compile else 'eager'} "
          f"{statistics.median(theirs):.0f} tokens/s, ratio {statistics.median(ratios):.2f}; "
          f"peak resident {summary['peak_rss_bytes'] / 2**30:.2f} GiB")


if __name__ == "__main__":
    main()
