#!/usr/bin/env python3
"""The longest sequence of a model that a machine can train by plan; prints a Markdown table.

    tests/bench/longest.py build/bin/spillway [--machines NAME ...]

An 8B Llama with one sequence a step, on one rank of machines of input/machines, with the host
memory and the drive of its node: once with the MLP of all rows at a time (`batch.mlp_chunk=0`) and
once with tiles of 4096 rows. Nothing is run, and all figures are predictions for those machines.
Next to it is what a step of the same length takes each way: of the longest that fits without tiles.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = """\
model: {family: llama, layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn: 14336, vocab: 128256,
        tied: false}
data: {sequence: 65536}
batch: {sequences: 1, micro: 1}
"""
MACHINES = ("rtx3090", "rtx4090", "a100-40", "a100-80", "h100")
CHUNKS = (0, 4096)


def plan(args, path, machine, *more):
    command = [args.program, "plan", str(path), "--machine",
               str(ROOT / f"input/machines/{machine}.yaml"), "--ranks", "1", "--json", *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def longest(args, path, machine, chunk):
    told = plan(args, path, machine, "--largest", "data.sequence", f"batch.mlp_chunk={chunk}")
    return told["largest"]


def step_s(args, path, machine, chunk, sequence):
    told = plan(args, path, machine, f"batch.mlp_chunk={chunk}", f"data.sequence={sequence}")
    return told["predicted"]["step_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--machines", nargs="+", default=MACHINES)
    args = parser.parse_args()
    print("| machine | all rows | tiles | longer | a step of the former | by tiles |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "llama-8b.yaml"
        path.write_text(MODEL)
        for machine in args.machines:
            whole, tiled = (longest(args, path, machine, chunk) for chunk in CHUNKS)
            before_s, after_s = (step_s(args, path, machine, chunk, whole) for chunk in CHUNKS)
            print(f"| {machine} | {whole:,} | {tiled:,} | {tiled / whole:.2f} x | {before_s:.0f} s "
                  f"| {after_s:.0f} s |")


if __name__ == "__main__":
    main()
