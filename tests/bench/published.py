#!/usr/bin/env python3
"""Plans for the settings of published systems, beside what they published; prints Markdown tables.

    tests/bench/published.py build/bin/spillway [--only protrain largest greedysnake autohete]

Nothing is trained: every figure of ours is what `plan --machine` predicts for the machine files of
input/machines. What papers do not say is assumed here, and told in the tables' heads: shapes by
their parameters, batches as the fastest of those that fit, at the rates that the machine files
assume. ProTrain is arXiv 2406.08334, GreedySnake arXiv 2512.17570, AutoHete arXiv 2503.01890.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

MACHINES = pathlib.Path(__file__).parents[2] / "input/machines"
CANNOT_FIT = 3


def gpt(layers, hidden, heads, **more):
    return {"family": "gpt", "layers": layers, "hidden": hidden, "heads": heads,
            "vocab": 50257} | more


def llama(layers, hidden, heads, ffn, kv_heads):
    return {"family": "llama", "layers": layers, "hidden": hidden, "heads": heads, "ffn": ffn,
            "kv_heads": kv_heads, "vocab": 32000, "tied": "false"}


MODELS = {
    "Mistral 7B": llama(32, 4096, 32, 14336, 8), "GPT-2 10B": gpt(48, 4096, 32),
    "LLaMA 13B": llama(40, 5120, 40, 13824, 40), "GPT-2 20B": gpt(24, 8192, 64),
    "GPT-2 30B": gpt(36, 8192, 64), "OPT 30B": gpt(48, 7168, 56, vocab=50272),
    "LLaMA 34B": llama(48, 8192, 64, 22016, 8), "GPT-2 40B": gpt(50, 8192, 64),
    "GPT 65B": gpt(80, 8192, 64), "GPT 175B": gpt(96, 12288, 96),
}
# Tokens a second: ProTrain's, DeepSpeed's with and without offload; 0: did not fit, None: not told.
A100_RATES = {
    "Mistral 7B": (11061, 7708, 9748), "GPT-2 10B": (8266, 6448, 7321),
    "LLaMA 13B": (6471, 4446, 5235), "GPT-2 20B": (5044, 3421, 0),
    "GPT-2 30B": (3431, None, None), "OPT 30B": (3266, None, None),
    "LLaMA 34B": (2845, None, None), "GPT-2 40B": (2724, None, None),
}
# No gradients' norms are awaited, fp16 gradients: 16 bytes a parameter, as in ProTrain's model.
STATE = {"optim.clip": 0, "optim.gradients": "bf16"}


class Planner:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        (self.folder / "in.yaml").write_text("model: {family: gpt}\n")

    def tokens_per_s(self, machine, ranks, model, **keys):
        """What the plan promises, or None if no plan fits."""
        keys = {f"model.{key}": value for key, value in model.items()} | keys
        command = [self.program, "plan", str(self.folder / "in.yaml"), "--machine", str(machine),
                   "--ranks", str(ranks)] + [f"{key}={value}" for key, value in keys.items()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == CANNOT_FIT:
            return None
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return float(re.search(r", ([0-9.]+) tokens/s;", done.stdout).group(1))

    def fastest(self, machine, ranks, model, **keys):
        """The fastest batch of a rank, in one micro-batch, and its rate."""
        best = (0, None)
        for micro in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96):
            rate = self.tokens_per_s(machine, ranks, model, **STATE, **keys, **{
                "batch.micro": micro, "batch.sequences": micro * ranks})
            if rate is None:
                break
            if rate > (best[1] or 0):
                best = (micro, rate)
        return best


def most(fits, low, high):
    """The largest number from low to high that fits, or None; fits(n) is true up to some n."""
    if not fits(low):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def number(rate):
    return "-" if rate is None else "does not fit" if rate == 0 else f"{rate:,.0f}"


def head(title, columns):
    print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")


def slower_network(folder, name, network_gbps):
    """The machine file with another rate between nodes."""
    text = re.sub(r"network_gbps: [0-9.]+", f"network_gbps: {network_gbps}",
                  (MACHINES / f"{name}.yaml").read_text())
    path = folder / f"{name}-network.yaml"
    path.write_text(text)
    return path


def protrain(planner):
    head("ProTrain: 1024 tokens a sequence, one micro-batch a step, the fastest batch that fits",
         ("machine", "model", "ours: sequences a GPU", "ours, tokens/s", "ProTrain",
          "ours / ProTrain", "DeepSpeed with, without offload"))
    # 100 Gbit/s for the four GPUs of a node, 80 % of it.
    ethernet = slower_network(planner.folder, "a100-80", 2.5)
    rows = [("4 x A100", MACHINES / "a100-80.yaml", 4, name, *rates)
            for name, rates in A100_RATES.items()]
    rows += [("16 x A100, 4 nodes", ethernet, 16, "GPT 175B", 2218.7, None, None),
             ("4 x RTX 3090", MACHINES / "rtx3090.yaml", 4, "GPT-2 10B", 2493, None, None),
             ("1 x RTX 3090", MACHINES / "rtx3090.yaml", 1, "GPT-2 10B", 2493 / 3.5, None, None)]
    for setting, machine, ranks, model, theirs, with_offload, without in rows:
        micro, rate = planner.fastest(machine, ranks, MODELS[model], **{"memory.nvme": "none"})
        ratio = "-" if rate is None else f"{rate / theirs:.2f}"
        print(f"| {setting} | {model} | {micro} | {number(rate)} | {number(theirs)} | {ratio} | "
              f"{number(with_offload)}, {number(without)} |", flush=True)


def largest(planner):
    head("ProTrain: the largest that trains, without a drive, one sequence of 1024 tokens a GPU",
         ("what", "ours", "ProTrain"))

    def billions(machine, ranks):
        """GPTs of this width grow by layers."""
        hidden = 8192
        layers = most(lambda n: planner.tokens_per_s(
            MACHINES / f"{machine}.yaml", ranks, gpt(n, hidden, 64), **STATE, **{
                "memory.nvme": "none", "batch.micro": 1, "batch.sequences": ranks}), 4, 400)
        return (12 * layers + 50257 / hidden) * hidden**2 / 1e9

    for machine, ranks, theirs in (("rtx3090", 1, "34B (DeepSpeed 15B)"), ("rtx3090", 4, "-"),
                                   ("a100-80", 1, "at least 75B"), ("a100-80", 4, "-")):
        print(f"| parameters, {ranks} x {machine}, 8192 wide | {billions(machine, ranks):.0f}B | "
              f"{theirs} |", flush=True)
    a100 = MACHINES / "a100-80.yaml"
    sequence = most(lambda n: planner.tokens_per_s(a100, 1, gpt(93, 8192, 64), **STATE, **{
        "memory.nvme": "none", "batch.micro": 1, "batch.sequences": 1,
        "data.sequence": 256 * n}), 1, 256)
    print(f"| sequence, 75B on one A100 | {256 * (sequence or 0)} | 7168 |", flush=True)
    micro = most(lambda n: planner.tokens_per_s(a100, 4, MODELS["LLaMA 13B"], **STATE, **{
        "memory.nvme": "none", "batch.micro": n, "batch.sequences": 4 * n}), 1, 512)
    print(f"| batch, LLaMA 13B on 4 x A100 | {4 * (micro or 0)} | 228 |", flush=True)


# ZeRO-Infinity: inputs of layers in host memory, all state on the drive, micro-batches one by one.
ONE_BY_ONE = {"plan.activations": "recompute+host", "plan.parameters": "nvme",
              "plan.optimizer": "nvme", "plan.update": "host", "plan.group": 1}


def greedysnake(planner):
    head("GreedySnake beside ZeRO-Infinity: tokens/s, 2048 tokens a sequence, micro-batches of 4",
         ("model", "GPUs", "micro-batches", "as ZeRO-Infinity", "the plan, groups of 1",
          "the plan", "of ZeRO-Infinity's", "published"))
    for model, ranks, published in (("GPT-2 30B", 1, "-"), ("GPT 65B", 1, "1.96"),
                                    ("GPT 65B", 4, "1.93"), ("GPT 175B", 1, "2.53")):
        for batches in (4, 16, 64):
            keys = STATE | {"data.sequence": 2048, "batch.micro": 4,
                            "batch.sequences": 4 * batches * ranks}
            rates = [planner.tokens_per_s(MACHINES / "a100-80.yaml", ranks, MODELS[model],
                                          **keys, **plan)
                     for plan in (ONE_BY_ONE, {"plan.group": 1}, {})]
            ratio = f"{rates[2] / rates[0]:.2f}" if rates[0] and rates[2] else "-"
            print(f"| {model} | {ranks} | {batches} | {' | '.join(map(number, rates))} | {ratio} | "
                  f"{published} |", flush=True)


# Of the published sizes, by layers and width.
AUTOHETE = {"4B": (21, 4096), "6B": (29, 4096), "10B": (32, 5120), "13B": (29, 6144),
            "18B": (40, 6144), "22B": (27, 8192)}


def autohete(planner):
    head("AutoHete's priorities alone: tokens/s, sequences of 1024 tokens, 40 GB of each GPU",
         ("model", "GPUs", "sequences a GPU", "updates as gradients come", "in the order of need",
          "ratio", "published on average (most)"))
    for ranks, micro, published in ((1, 8, "1.16 (1.24)"), (4, 8, "1.21 (1.30)"), (1, 2, "-"),
                                    (4, 2, "-")):
        for name, (layers, hidden) in AUTOHETE.items():
            keys = STATE | {"memory.device": "40GB", "memory.host": f"{440 // ranks}GB",
                            "memory.nvme": "none", "batch.micro": micro,
                            "batch.sequences": micro * ranks}
            rates = [planner.tokens_per_s(MACHINES / "a100-80.yaml", ranks,
                                          gpt(layers, hidden, hidden // 128), **keys, **plan)
                     for plan in ({"plan.early": 100}, {})]
            ratio = f"{rates[1] / rates[0]:.2f}" if rates[0] and rates[1] else "-"
            print(f"| {name} | {ranks} | {micro} | {' | '.join(map(number, rates))} | {ratio} | "
                  f"{published} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    tables = {"protrain": protrain, "largest": largest, "greedysnake": greedysnake,
              "autohete": autohete}
    parser.add_argument("--only", nargs="+", choices=tables, default=list(tables))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in args.only:
            tables[name](Planner(args.program, folder))


main()
