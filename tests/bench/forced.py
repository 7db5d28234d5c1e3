#!/usr/bin/env python3
"""Asks for plans of random questions, with everything left open and with one to three keys forced,
and prints where a forced plan is predicted to be faster than the one that was chosen.

    tests/bench/forced.py build/bin/spillway [--questions 40] [--forces 15] [--seed 1]

It runs nothing. A refusal of a forced question says nothing; one of the open question counts as an
infinite time.
"""
import argparse
import concurrent.futures
import itertools
import json
import pathlib
import random
import statistics
import subprocess
import tempfile

MACHINES = pathlib.Path(__file__).parents[2] / "input" / "machines"
SHAPES = [  # family, layers, hidden, heads, vocab
    ("gpt", 12, 768, 12, 50257), ("gpt", 24, 2048, 16, 50257), ("gpt", 48, 4096, 32, 50257),
    ("gpt", 48, 7168, 56, 50257), ("llama", 16, 2048, 32, 128256), ("llama", 32, 4096, 32, 32000),
    ("llama", 40, 5120, 40, 32000), ("bert", 24, 1024, 16, 30522), ("t5", 12, 768, 12, 32128)]
FORCES = {
    "plan.gradients": ["device", "host"], "plan.parameters": ["device", "host", "nvme"],
    "plan.optimizer": ["device", "host", "nvme"], "plan.update": ["device", "host"],
    "plan.activations": ["keep", "recompute", "light", "host"],
    "plan.shard": ["none", "gradients", "all"], "plan.group": ["1", "2", "4"],
    "plan.prefetch": ["1", "2"]}


def question(draw):
    family, layers, hidden, heads, vocab = draw.choice(SHAPES)
    micro = draw.choice([1, 2, 4, 8])
    ranks = draw.choice([1, 1, 2, 4, 8])
    return {"text": f"model: {{family: {family}, layers: {layers}, hidden: {hidden}, "
                    f"heads: {heads}, vocab: {vocab}}}\n"
                    f"data: {{sequence: {draw.choice([512, 1024, 2048])}}}\n"
                    f"batch: {{sequences: {micro * ranks * draw.choice([1, 2, 4, 8])}, "
                    f"micro: {micro}}}\n",
            "name": f"{family} {layers}x{hidden}",
            "machine": draw.choice(["a100-80", "gh200", "h100", "h200", "rtx3090"]),
            "ranks": ranks,
            "keys": [f"memory.device={draw.choice([8, 12, 20, 40, 60])}GiB"] * draw.choice([0, 1])
            + [f"memory.host={draw.choice([32, 80, 160])}GiB"] * draw.choice([0, 1])
            + ["memory.nvme=none"] * draw.choice([0, 1])}


def forces(draw, count):
    result = []
    while len(result) < count:
        keys = draw.sample(sorted(FORCES), draw.choice([1, 1, 2, 3]))
        result.append([f"{key}={draw.choice(FORCES[key])}" for key in keys])
    return result


def step_s(program, asked, forced):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(asked["text"])
        file.flush()
        run = subprocess.run(
            [program, "plan", file.name, "--json", "--machine",
             str(MACHINES / f"{asked['machine']}.yaml"), "--ranks", str(asked["ranks"]),
             *asked["keys"], *forced], capture_output=True, text=True)
    return json.loads(run.stdout)["predicted"]["step_s"] if run.returncode == 0 else float("inf")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--forces", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=2)
    args = parser.parse_args()
    draw = random.Random(args.seed)
    asked = [(question(draw), [[], *forces(draw, args.forces)]) for _ in range(args.questions)]
    ratios, chosen = [], []
    print("| model | machine | ranks | keys | chosen, s | forced, s | by | times |")
    print("|" + " --- |" * 8)
    with concurrent.futures.ThreadPoolExecutor(args.at_once) as pool:
        for one, forced in asked:
            times = list(pool.map(step_s, itertools.repeat(args.program), itertools.repeat(one),
                                  forced))
            open_s = times[0]
            best = min(range(len(times)), key=times.__getitem__)
            if times[best] == float("inf"):
                continue  # nothing fits
            ratios.append(open_s / times[best])
            chosen.append(open_s)
            cells = [one["name"], one["machine"], one["ranks"], " ".join(one["keys"]),
                     f"{open_s:.4g}", f"{times[best]:.4g}", " ".join(forced[best]),
                     f"{ratios[-1]:.3f}"]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    beaten = {by: sum(ratio > 1 + by for ratio in ratios) for by in (0.005, 0.01, 0.05)}
    print(f"\n{len(ratios)} questions with an answer; beaten by more than "
          + ", ".join(f"{100 * by:g} % in {count}" for by, count in beaten.items())
          + f"; at most {max(ratios):.2f} times. Geometric mean of chosen steps: "
          f"{statistics.geometric_mean(chosen):.4f} s")


if __name__ == "__main__":
    main()
