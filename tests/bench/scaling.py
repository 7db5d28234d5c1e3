#!/usr/bin/env python3
"""What plans say of one Llama on ever more ranks of a described machine; prints Markdown tables.

    tests/bench/scaling.py build/bin/spillway --machine input/machines/h100.yaml
        [--ranks 8 64 512 4096] [--models 8B 70B 405B]

Nothing is trained. Weak scaling gives every rank the same number of sequences of 8192 tokens,
strong scaling shares 4096 of them out. MFU counts
6 flops for each parameter and token, against the machine file's peak. What binds is the lane on
which the step waits longest.
"""
import argparse
import json
import re
import subprocess
import tempfile

# name: layers, hidden, ffn, heads, kv_heads (Llama 3.1)
MODELS = {"8B": (32, 4096, 14336, 32, 8), "70B": (80, 8192, 28672, 64, 8),
          "405B": (126, 16384, 53248, 128, 8)}
VOCAB, SEQUENCE, WEAK, STRONG = 128256, 8192, 2, 4096


def parameters(layers, hidden, ffn, heads, kv_heads):
    kv = hidden * kv_heads // heads
    return layers * (2 * hidden * hidden + 2 * hidden * kv + 3 * hidden * ffn) + 2 * VOCAB * hidden


def plan(args, model, ranks, sequences):
    layers, hidden, ffn, heads, kv_heads = MODELS[model]
    text = (f"model: {{family: llama, layers: {layers}, hidden: {hidden}, ffn: {ffn}, "
            f"heads: {heads}, kv_heads: {kv_heads}, vocab: {VOCAB}, tied: false}}\n"
            f"data: {{sequence: {SEQUENCE}}}\n"
            f"batch: {{sequences: {sequences}, micro: 1}}\noptim: {{gradients: bf16}}\n")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        command = [args.program, "plan", file.name, "--json", "--machine", args.machine,
                   "--ranks", str(ranks)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


def shards(report):
    """How many chunks have each shard, and whether the ranks of each node share them out."""
    section = report["plan"].split("\nshard:\n")[1].split("\nprefetch:")[0]
    words = re.findall(r"^ *- (\w+)", section, re.MULTILINE)
    where = " in nodes" if "shard_ranks: node" in section else ""
    return ", ".join(f"{words.count(w)} {w}" for w in dict.fromkeys(words)) + where


def row(args, model, ranks, sequences, peak_gflops):
    report = plan(args, model, ranks, sequences)
    if isinstance(report, str):
        return f"| {model} | {ranks} | {sequences} | {report.splitlines()[-1]} | | | | | | |"
    told = report["predicted"]
    gib = [told["peak_bytes"][tier] / 2**30 for tier in ("device", "host", "nvme")]
    mfu = 6 * parameters(*MODELS[model]) * told["tokens_per_s"] / (ranks * peak_gflops * 1e9)
    path = {lane: (sum(s.values()) if isinstance(s, dict) else s)
            for lane, s in report["critical_path"].items()}
    binds = max(path, key=path.get)
    group = re.search(r"^group: (\d+)", report["plan"], re.MULTILINE).group(1)
    return (f"| {model} | {ranks} | {sequences} | {gib[0]:.0f} / {gib[1]:.0f} / {gib[2]:.0f} | "
            f"{shards(report)} | {group} | {told['step_s']:.2f} | {told['tokens_per_s']:,.0f} | "
            f"{100 * mfu:.0f} % | {binds} {100 * path[binds] / told['step_s']:.0f} % | "
            f"{report['candidates']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--machine", required=True)
    parser.add_argument("--ranks", type=int, nargs="+", default=[8, 64, 512, 4096])
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    args = parser.parse_args()
    peak = re.search(r"^peak_gflops: {bf16: (\d+)", open(args.machine).read(), re.MULTILINE)
    for weak in (True, False):
        print(f"\n{'Weak' if weak else 'Strong'} scaling\n")
        print("| model | ranks | sequences | GiB a rank: device / host / NVMe | "
              "chunks shared out | group | step s | tokens/s | MFU | binds | plans looked at |")
        print("|---|---|---|---|---|---|---|---|---|---|---|")
        for model in args.models:
            for ranks in args.ranks:
                sequences = WEAK * ranks if weak else STRONG
                print(row(args, model, ranks, sequences, float(peak.group(1))), flush=True)


main()
