#!/usr/bin/env python3
"""Training steps of adapters (LoRA) on a frozen model, spillway beside PyTorch with PEFT.

    tests/bench/compare_peft.py DIRECTORY [--rank 16] [--rounds 3] [--against eager compiled]

DIRECTORY is a model of transformers that both read. Every round runs spillway and PyTorch, one
after the other, each in a process of its own; ratios are taken within a round. Adapters are on all
linear layers but the head; the base is bf16, as it is in both. Peaks are of the process. Needs
`torch`, `transformers` and `peft`; installs nothing. PyTorch runs as its users run it: fused AdamW,
scaled-dot-product attention, autocast, clipping by global norm.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import sys
import tempfile
import time

from compare_pytorch import output_of, print_table, rate, rounds, write_tokens
from runs import reported


def torch_steps(args):
    """Runs in a process of its own: seconds of steps, and its peak."""
    import peft
    import torch
    import transformers

    base = transformers.AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.bfloat16)
    model = peft.get_peft_model(base.train(), peft.LoraConfig(
        r=args.rank, lora_alpha=2 * args.rank, target_modules="all-linear"))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4,
                                  fused=True)
    forward = torch.compile(model) if args.compile else model
    seconds = []
    for _ in range(args.steps):
        tokens = torch.randint(0, 256, (args.sequences, args.sequence))
        start = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = forward(input_ids=tokens, labels=tokens).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        seconds.append(time.perf_counter() - start)
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "peak_bytes": peak_bytes}


def run_torch(args, compiled):
    command = [sys.executable, __file__, args.model, "--torch-round", "--rank", str(args.rank),
               "--steps", str(args.steps), "--sequences", str(args.sequences),
               "--sequence", str(args.sequence)]
    result = json.loads(output_of(command + ["--compile"] * compiled).splitlines()[-1])
    return rate(args, result["seconds"]), result["peak_bytes"]


def run_spillway(args, folder, round_number):
    run_dir = folder / f"run-{round_number}"
    config = folder / "bench.yaml"
    config.write_text(
        f"model: {{import: {pathlib.Path(args.model).resolve()},\n"
        f"        lora: {{rank: {args.rank}, alpha: {2 * args.rank}, targets: all}}}}\n")
    overrides = {
        "data.train": folder / "tokens.h5", "data.sequence": args.sequence,
        "batch.sequences": args.sequences, "batch.micro": args.sequences, "precision": "bf16",
        "optim.warmup": 1, "run.steps": args.steps, "run.dir": run_dir, "run.log.every": 1,
        "run.checkpoint.every": 0, "plan.activations": args.activations,
        "memory.device": args.memory, "memory.nvme": f"{{path: {folder}, size: 24GiB}}",
    }
    overrides |= dict(word.split("=", 1) for word in args.set)
    output_of([args.spillway, "train", str(config),
               *(f"{key}={value}" for key, value in overrides.items())])
    rows, summary = reported(run_dir)
    shutil.rmtree(run_dir)
    return rate(args, [row["step_s"] for row in rows]), summary["peak_rss_bytes"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--spillway", default="build/bin/spillway")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--sequences", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=512)
    parser.add_argument("--activations", default="keep")
    parser.add_argument("--memory", default="8GiB", help="memory.device of spillway")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE",
                        help="more of spillway's input")
    parser.add_argument("--against", nargs="*", default=["eager", "compiled"],
                        choices=["eager", "compiled"])
    parser.add_argument("--compile", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--torch-round", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.precision, args.device = "bf16", "cpu"
    if args.torch_round:
        print(json.dumps(torch_steps(args)))
        return
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        folder = pathlib.Path(folder)
        write_tokens(args, folder / "tokens.h5", 40 * args.sequences * args.sequence + 1)
        print_table(args, rounds(args, lambda number: run_spillway(args, folder, number),
                                 lambda compiled: run_torch(args, compiled)))


if __name__ == "__main__":
    main()
