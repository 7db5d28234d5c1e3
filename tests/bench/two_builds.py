#!/usr/bin/env python3
"""GPT-2 124M steps of two builds of spillway, alternating in one run; prints medians and the median
of the rounds' ratios.

    tests/bench/two_builds.py OLD/bin/spillway NEW/bin/spillway [--rounds 7] [--activations nvme]
"""
import argparse
import pathlib
import statistics
import tempfile

from compare_pytorch import MODELS, run_spillway, write_tokens


def one_run(args, build, folder, number):
    args.spillway = build
    tokens_per_s, _ = run_spillway(args, folder, number)
    return tokens_per_s


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--model", default="gpt2", choices=MODELS)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--sequences", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=512)
    parser.add_argument("--precision", default="bf16", choices=["bf16", "fp32"])
    parser.add_argument("--activations", default="keep")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    args = parser.parse_args()
    rates = {args.old: [], args.new: []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        args.spillway = args.old
        write_tokens(args, folder / "tokens.h5", 40 * args.sequences * args.sequence + 1)
        for number in range(args.rounds):  # who comes first alternates too
            for build in (list(rates) if number % 2 == 0 else list(rates)[::-1]):
                rates[build].append(one_run(args, build, folder, number))
            print(f"round {number}: old {rates[args.old][-1]:.0f}, new {rates[args.new][-1]:.0f}",
                  flush=True)
    ratios = [new / old for old, new in zip(rates[args.old], rates[args.new])]
    print(f"tokens/s, medians: old {statistics.median(rates[args.old]):.0f}, "
          f"new {statistics.median(rates[args.new]):.0f}; "
          f"new / old, median of rounds {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
