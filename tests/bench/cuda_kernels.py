#!/usr/bin/env python3
"""What ptxas says of every kernel of the module for CUDA devices; prints Markdown tables.

    tests/bench/cuda_kernels.py build [80 90 100] > tests/bench/results/cuda-kernels.md

The folder was configured with preset `cuda` and SPILLWAY_UNITY=OFF. Each of the module's sources is
compiled to PTX by its own command and that PTX to code, once for each architecture; nothing is run,
so no GPU is needed. PTX instructions are counted in the text. Kernels of Kokkos that its headers
bring are among those of a source, those of its own library are not.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import tempfile
from collections import defaultdict

COUNTS = ("instructions", "registers", "spilled", "shared", "stack")
# Prints what the launches of attention ask for: the sources' own functions say it.
SHARED = r"""
#include <cstdio>

#include "kernels/cuda/attention.cu"
#include "kernels/cuda/attention_of_keys.cuh"
#include "kernels/cuda/attention_of_queries.cuh"

using namespace spillway;
using namespace spillway::cuda;

template <class T>
void tell(char const* type, int head) {
  AttentionShape const s{.batch = 1, .queries = 1, .keys = 1, .heads = 1, .kv_heads = 1,
                         .head_size = head};
  std::printf("| %s, %d | %d | %d | %d | %d |\n", type, head, forward_pass<T>(s).shared_bytes,
              pass_of_queries<T>(s, false).shared_bytes, pass_of_queries<T>(s, true).shared_bytes,
              pass_of_keys<T>(s).shared_bytes);
}
int main() {
  for (int head : {64, 128, 256}) tell<bf16>("bf16", head);
  for (int head : {64, 128, 256}) tell<float>("fp32", head);
}
"""


def run(command, folder):
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)}:\n{done.stderr}")
    return done.stdout + done.stderr


def to_ptx(entry, source, arch, ptx):
    """The command that compiles `source` as `entry` is compiled, but to PTX for `arch`."""
    words = [word for word in shlex.split(entry["command"])
             if not word.startswith(("--generate-code", "-gencode", "-arch"))]
    words[words.index("-c"):] = ["-ptx", f"-arch=compute_{arch}", source, "-o", ptx]
    return words


def instructions_in(ptx):
    """How many instructions each kernel has: statements that are no directives."""
    counts, kernel = {}, None
    for line in ptx.splitlines():
        line = line.split("//")[0]
        if began := re.search(r"\.entry\s+([\w$]+)", line):
            kernel = began[1]
            counts[kernel] = 0
        elif line.startswith("}"):
            kernel = None
        elif kernel:
            parts = re.sub(r"[{}]|[\w$]+:(?!:)", " ", line).split(";")[:-1]
            counts[kernel] += sum(bool(part.strip()) and not part.strip().startswith(".")
                                  for part in parts)
    return counts


def told_by_ptxas(said):
    """Registers, bytes spilled, static shared memory and stack of each kernel."""
    found = {}
    for part in said.split("Compiling entry function '")[1:]:
        number = {name: int(value) for value, name in re.findall(
            r"(\d+) (bytes stack frame|bytes spill stores|bytes spill loads|registers|bytes smem)",
            part)}
        found[part.split("'")[0]] = {
            "registers": number["registers"], "shared": number.get("bytes smem", 0),
            "stack": number["bytes stack frame"],
            "spilled": number["bytes spill stores"] + number["bytes spill loads"]}
    return found


def measure(entry, arch, ptxas, folder):
    ptx = str(folder / "kernels.ptx")
    run(to_ptx(entry, entry["file"], arch, ptx), entry["directory"])
    told = told_by_ptxas(run([ptxas, "-v", f"-arch=sm_{arch}", ptx, "-o", "/dev/null"], folder))
    counts = instructions_in(pathlib.Path(ptx).read_text())
    # Names as a linker has them differ from one compilation to the next.
    names = subprocess.run(["c++filt"], input="\n".join(told), text=True,
                           capture_output=True).stdout.splitlines()
    kernels = {name: {**told[symbol], "instructions": counts[symbol]}
               for name, symbol in zip(names, told, strict=True)}
    assert len(kernels) == len(told), f"{entry['file']}: kernels of one name"
    return kernels


def readable(text):
    """A kernel's name without its operands and what is the same in all of them."""
    common = r"\(anonymous namespace\)::|spillway::(cuda::(file_\w+::)?)?|Kokkos::(Impl::)?|^void "
    text = re.sub(common, "", text)
    text = re.sub(r"cuda_parallel_launch_\w+<|ParallelFor<", "", text).split("(")[0]
    return text if len(text) < 70 else text[:69] + "…"


def cell(values):
    values = list(values)
    return f"{values[0]:,}" if len(set(values)) == 1 else " / ".join(f"{v:,}" for v in values)


def table_of_files(kernels, archs):
    """kernels[file][arch][name] are counts. A cell has a value for each architecture."""
    names = " / ".join(f"sm_{arch}" for arch in archs)
    yield f"Cells: {names}, or one number where all agree."
    yield ""
    yield ("| source | kernels | PTX instructions, sum | of the largest | registers, most | "
           "spilled, bytes, most | static shared memory, bytes, most | stack, bytes, most |")
    yield "|" + " --- |" * 8
    total = defaultdict(lambda: defaultdict(list))
    for file in sorted(kernels):
        for arch in archs:
            for counts in kernels[file][arch].values():
                for name in COUNTS:
                    total[arch][name].append(counts[name])
    rows = [(file, {arch: {name: [c[name] for c in kernels[file][arch].values()]
                           for name in COUNTS} for arch in archs})
            for file in sorted(kernels) if any(kernels[file].values())]
    for file, counts in rows + [("**all**", total)]:
        cells = [cell(len(counts[arch]["registers"]) for arch in archs),
                 cell(sum(counts[arch]["instructions"]) for arch in archs)]
        cells += [cell(max(counts[arch][name]) for arch in archs) for name in COUNTS]
        yield f"| {file} | " + " | ".join(cells) + " |"


def table_of_frames(kernels, archs):
    yield "| source | kernel | spill stores and loads, bytes | stack, bytes | registers |"
    yield "|" + " --- |" * 5
    for file in sorted(kernels):
        for name in sorted(kernels[file][archs[0]]):
            told = [kernels[file][arch][name] for arch in archs]
            if any(counts["spilled"] or counts["stack"] for counts in told):
                cells = [cell(counts[word] for counts in told)
                         for word in ("spilled", "stack", "registers")]
                yield f"| {file} | `{readable(name)}` | " + " | ".join(cells) + " |"


def shared_memory(entry, folder):
    """Lines that a program prints which has the launches' own functions, and launches nothing."""
    (folder / "shared.cu").write_text(SHARED)
    words = to_ptx(entry, str(folder / "shared.cu"), 80, str(folder / "shared"))
    words.remove("-ptx")
    # What binding and launching would call stays unresolved, for which no PIE can be.
    words += ["-Xcompiler", "-no-pie", "-Xlinker", "--unresolved-symbols=ignore-all,-no-pie"]
    run(words, entry["directory"])
    return run([str(folder / "shared")], folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("archs", nargs="*", default=["80", "90", "100"])
    given = parser.parse_args()
    commands = json.loads((given.build / "modules/cuda/compile_commands.json").read_text())
    entries = [entry for entry in commands if "nvcc" in entry["command"].split()[0]
               and "/lib/kernels/" in entry["file"]]
    if not any(entry["file"].endswith("/portable/adamw.cpp") for entry in entries):
        raise SystemExit(f"{given.build}: configure with -D SPILLWAY_UNITY=OFF, a file at a time")
    nvcc = shlex.split(entries[0]["command"])[0]
    ptxas = str(pathlib.Path(nvcc).parent / "ptxas")
    kernels = defaultdict(dict)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        attention = next(e for e in entries if e["file"].endswith("cuda/attention.cu"))
        shared = shared_memory(attention, folder)
        for entry in entries:
            file = entry["file"].split("/lib/kernels/")[1]
            for arch in given.archs:
                kernels[file][arch] = measure(entry, arch, ptxas, folder)
    print(f"nvcc: {run([nvcc, '--version'], '.').splitlines()[-2]}.\n")
    print("\n".join(table_of_files(kernels, given.archs)))
    print("\n## Kernels that spill or have a stack frame\n")
    print("\n".join(table_of_frames(kernels, given.archs)))
    print("\n## Dynamic shared memory of attention, bytes a block\n")
    print("| heads of up to | forward | dq | dq and sums for a bias | dk, dv |")
    print("| --- | --- | --- | --- | --- |")
    print(shared, end="")


if __name__ == "__main__":
    main()
