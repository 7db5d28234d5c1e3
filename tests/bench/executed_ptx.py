#!/usr/bin/env python3
"""Which instructions of the kernels for CUDA devices tests have executed; prints Markdown tables.

    SPILLWAY_PTX_COUNTS=FOLDER ctest --test-dir build -R on_ptx
    tests/bench/executed_ptx.py FOLDER > tests/bench/results/executed-ptx.md

FOLDER has a file of each process that has run kernels on PTX (tests/support/cuda/executed.hpp).
"""
import argparse
import pathlib
import re
import subprocess
from collections import Counter, defaultdict

from cuda_kernels import readable


def read(folder):
    """{kernel: {(line, text): threads}}; kernels that two files compile count for both."""
    kernels = defaultdict(Counter)
    files = sorted(folder.glob("*.tsv"))
    if not files:
        raise SystemExit(f"{folder}: no test has left counts there")
    for file in files:
        for row in file.read_text().splitlines():
            kernel, line, text, threads = row.split("\t")
            kernels[kernel][int(line), text] += int(threads)
    return kernels, len(files)


def opcode(text):
    """`add.s64` of `@%p1 add.s64 %rd1, %rd2, 4;`"""
    return re.sub(r"^@!?%\w+\s+", "", text).split()[0].rstrip(";")


def names_of(kernels):
    names = subprocess.run(["c++filt"], input="\n".join(kernels), text=True, capture_output=True,
                           check=True).stdout.splitlines()
    return dict(zip(kernels, names, strict=True))


def group_of(name):
    """A portable kernel's file (modules/cuda/batches.cmake), or the name of another."""
    if file := re.search(r"::file_(\w+)::", name):
        return f"portable/{file[1]}"
    return re.sub(r"[<,].*", "", readable(name))


def share(executed, all_of_them):
    return f"{executed:,} | {all_of_them:,} | {100 * executed / all_of_them:.1f} %"


def table_of_kernels(kernels, names):
    yield "| kernels | instructions executed | of | | by so many threads |"
    yield "|" + " --- |" * 5
    groups = defaultdict(list)
    for symbol, counts in kernels.items():
        groups[group_of(names[symbol])].append(counts)
    for group, members in sorted(groups.items()) + [("**all**", list(kernels.values()))]:
        executed = sum(sum(threads > 0 for threads in counts.values()) for counts in members)
        label = f"{group}, {len(members)}"
        yield (f"| {label} | {share(executed, sum(map(len, members)))} | "
               f"{sum(sum(counts.values()) for counts in members):,} |")


def table_of_opcodes(kernels):
    threads = Counter()
    for counts in kernels.values():
        for (_, text), count in counts.items():
            threads[opcode(text)] += count
    never = sorted(name for name, count in threads.items() if count == 0)
    yield f"{len(threads)} opcodes with their types; executed: {len(threads) - len(never)}."
    if never:
        yield "Never executed: " + ", ".join(f"`{name}`" for name in never) + "."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--never", action="store_true", help="print what was never executed")
    given = parser.parse_args()
    kernels, processes = read(given.folder)
    names = names_of(kernels)
    if given.never:
        for symbol, counts in kernels.items():
            for (line, text), threads in counts.items():
                if threads == 0:
                    print(f"{readable(names[symbol])}\t{line}\t{text}")
        return
    print(f"Counts of {processes} processes.\n")
    print("\n".join(table_of_opcodes(kernels)))
    print()
    print("\n".join(table_of_kernels(kernels, names)))


if __name__ == "__main__":
    main()
