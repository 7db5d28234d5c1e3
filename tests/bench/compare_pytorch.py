#!/usr/bin/env python3
"""Training steps of a model, spillway beside PyTorch, alternating in one run; medians and ratios.

    tests/bench/compare_pytorch.py [--model bert-base] [--precision fp32] [--rounds 5]
        [--device cuda]

Every round runs spillway, PyTorch eager, PyTorch compiled and (on the cores) the step's matrix
products alone, one after the other, each in a process of its own; ratios are taken within a round.
Peaks are of the device's memory with --device cuda, else of the process.
Needs `torch` and `transformers`; installs nothing. PyTorch runs as its users run it: fused AdamW,
scaled-dot-product attention, autocast, clipping by global norm.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from runs import reported

VOCAB = 50257  # GPT-2's
# Our keys; transformers' class and configuration. Text is random, so only shapes count.
MODELS = {
    "gpt2": (
        {"family": "gpt", "layers": 12, "hidden": 768, "heads": 12, "vocab": VOCAB},
        "GPT2LMHeadModel", "GPT2Config",
        {"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0}),
    "gpt-1.5b": (
        {"family": "gpt", "layers": 48, "hidden": 1600, "heads": 25, "vocab": VOCAB},
        "GPT2LMHeadModel", "GPT2Config",
        {"n_layer": 48, "n_embd": 1600, "n_head": 25,
         "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0}),
    "bert-base": (
        {"family": "bert", "layers": 12, "hidden": 768, "heads": 12, "vocab": 30522,
         "positions": 512},
        "BertForMaskedLM", "BertConfig",
        {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0}),
    "t5-small": (
        {"family": "t5", "layers": 6, "hidden": 512, "heads": 8, "ffn": 2048, "head_size": 64,
         "vocab": 32128},
        "T5ForConditionalGeneration", "T5Config", {"dropout_rate": 0, "decoder_start_token_id": 0}),
    # The shape of SmolLM 135M.
    "llama-135m": (
        {"family": "llama", "layers": 30, "hidden": 576, "heads": 9, "kv_heads": 3, "ffn": 1536,
         "vocab": 49152, "tied": "true"},
        "LlamaForCausalLM", "LlamaConfig",
        {"hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 9,
         "num_key_value_heads": 3, "intermediate_size": 1536, "vocab_size": 49152,
         "tie_word_embeddings": True}),
}
T5_TARGET = 114  # what corruption of 15 % in spans of 3 leaves of 512 tokens for the decoder


def output_of(command, environment=None):
    """What a program printed; ends with what it said where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-2000:]
        sys.exit(f"{command[0]} exits {done.returncode}: {said}")
    return done.stdout


def write_tokens(args, path, count):
    """Random bytes as tokens."""
    text = path.with_suffix(".bytes")
    text.write_bytes(random.Random(1).randbytes(count))
    output_of([args.spillway, "tokenize", "--tokenizer", "byte", "-o", str(path), str(text)])


def torch_batch(args, config):
    """The forward's arguments: as many rows as ours."""
    import torch

    def tokens(length):
        return torch.randint(0, 256, (args.sequences, length), device=args.device)

    inputs = tokens(args.sequence)
    if config.is_encoder_decoder:
        return {"input_ids": inputs, "labels": tokens(T5_TARGET)}
    return {"input_ids": inputs, "labels": inputs}


def torch_round(args):
    """Runs in a process of its own; prints JSON: step seconds, or null if memory is too small."""
    import torch

    try:
        print(json.dumps(torch_steps(args)))
    except torch.cuda.OutOfMemoryError:
        print("null")


def torch_steps(args):
    import torch
    import transformers

    _, model_class, config_class, values = MODELS[args.model]
    config = getattr(transformers, config_class)(**values)
    model = getattr(transformers, model_class)(config).train().to(args.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    forward = torch.compile(model) if args.compile else model
    seconds = []
    for _ in range(args.steps):
        batch = torch_batch(args, config)
        start = time.perf_counter()
        with torch.autocast(args.device, dtype=torch.bfloat16, enabled=args.precision == "bf16"):
            loss = forward(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        seconds.append(time.perf_counter() - start)
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if args.device == "cuda":
        peak_bytes = torch.cuda.max_memory_reserved()
    return {"seconds": seconds, "peak_bytes": peak_bytes}


def tokens_per_s(args, step_s):
    return args.sequences * args.sequence / step_s


def rate(args, seconds):
    """Tokens a second of the median step; the first ones compile and touch memory."""
    return tokens_per_s(args, statistics.median(seconds[2:]))


def run_torch(args, compiled):
    command = [sys.executable, __file__, "--torch-round", "--model", args.model,
               "--precision", args.precision, "--steps", str(args.steps), "--device", args.device,
               "--sequences", str(args.sequences), "--sequence", str(args.sequence)]
    command += ["--compile"] if compiled else []
    result = json.loads(output_of(command).splitlines()[-1])
    return (rate(args, result["seconds"]), result["peak_bytes"]) if result else (0, 0)


def words(args, folder):
    """The input of spillway and of its products."""
    model = MODELS[args.model][0]
    values = {f"model.{key}": value for key, value in model.items() if key != "family"}
    if model["family"] == "t5":
        values["data.target"] = T5_TARGET
    values |= {
        "data.train": folder / "tokens.h5", "data.sequence": args.sequence,
        "batch.sequences": args.sequences, "batch.micro": args.sequences,
        "precision": args.precision,
    }
    config = folder / "bench.yaml"
    config.write_text(f"model: {{family: {model['family']}}}\n")
    return [str(config), *(f"{key}={value}" for key, value in values.items())]


def run_products(args, folder):
    """Tokens a second if nothing but products took time: by oneDNN, where it can, and by ours;
    the last line has attention's products too, at the rate of the others."""
    program = pathlib.Path(args.spillway).parent / "spillway_bench_products"
    environment = {**os.environ, "OMP_PROC_BIND": "false", "OMP_WAIT_POLICY": "passive"}
    output = output_of([program, "3", *words(args, folder)], environment)
    result = json.loads(output.splitlines()[-1])
    seconds = {"our products alone": result["products_s"],
               "our products, attention's too": result["products_s"]
                                                * (1 + result["attention_share"])}
    if "onednn_s" in result:
        seconds["oneDNN's products alone"] = result["onednn_s"]
    return {name: tokens_per_s(args, value) for name, value in seconds.items()}


def run_spillway(args, folder, round_number):
    run_dir = folder / f"run-{round_number}"
    overrides = {
        "optim.warmup": 1, "run.steps": args.steps, "run.dir": run_dir, "run.log.every": 1,
        "run.checkpoint.every": 0, "plan.activations": args.activations,
        "memory.device": "auto" if args.device == "cuda" else "8GiB",
        "run.device": "cuda:0" if args.device == "cuda" else "cpu",
        "memory.nvme": f"{{path: {folder}, size: 8GiB}}",
    }
    command = [args.spillway, "train", *words(args, folder)]
    command += [f"{key}={value}" for key, value in overrides.items()]
    output_of(command)
    rows, summary = reported(run_dir)
    shutil.rmtree(run_dir)  # its checkpoint has 12 bytes a parameter
    peak_bytes = (summary["measured_peak_bytes"]["device"] if args.device == "cuda"
                  else summary["peak_rss_bytes"])
    return rate(args, [row["step_s"] for row in rows]), peak_bytes


def rounds(args, ours, torchs, beside=dict):
    """For every runner, its figures of all rounds: of `ours`, called with the round's number, of
    `torchs`, called with whether it compiles, and the rates by name that `beside` returns."""
    runners = {"spillway": ours}
    for how in args.against:
        runners[f"PyTorch {how}"] = lambda _, how=how: torchs(how == "compiled")
    figures = {name: [] for name in runners}
    for number in range(args.rounds):
        for name, run in runners.items():
            figures[name].append(run(number))
        for name, figure in beside().items():
            figures.setdefault(name, []).append((figure, None))
        shown = ", ".join(f"{name} {values[-1][0]:.0f}" for name, values in figures.items())
        print(f"round {number}: {shown}", file=sys.stderr, flush=True)
    return figures


def print_table(args, figures):
    print(f"{args.model}, {args.precision}, {args.sequences} x {args.sequence}, "
          f"{args.activations}, {args.rounds} rounds of {args.steps} steps\n")
    peak = "peak on the device" if args.device == "cuda" else "peak resident"
    print(f"| | tokens/s, median (all rounds) | spillway is, median | {peak} |")
    print("| --- | --- | --- | --- |")
    ours = [figure for figure, _ in figures["spillway"]]
    for name, values in figures.items():
        rates = [figure for figure, _ in values]
        if 0 in rates:
            print(f"| {name} | out of memory | | |")
            continue
        ratio = statistics.median(a / b for a, b in zip(ours, rates))
        peak = f"{max(p for _, p in values) / 2**30:.2f} GiB" if values[0][1] else ""
        every = ", ".join(f"{r:.0f}" for r in rates)
        print(f"| {name} | {statistics.median(rates):.0f} ({every}) "
              f"| {'' if name == 'spillway' else f'{ratio:.2f} x'} | {peak} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--spillway", default="build/bin/spillway")
    parser.add_argument("--model", default="gpt2", choices=MODELS)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
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
        write_tokens(args, folder / "tokens.h5", 40 * args.sequences * args.sequence + 1)
        beside = dict if args.device == "cuda" else lambda: run_products(args, folder)
        print_table(args, rounds(args, lambda number: run_spillway(args, folder, number),
                                 lambda compiled: run_torch(args, compiled), beside))


if __name__ == "__main__":
    main()
