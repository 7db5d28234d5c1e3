#!/usr/bin/env python3
"""Runs the commands of docs/answers.md and puts what they print below them.

    tests/bench/answers.py build/bin/spillway [docs/answers.md]

A command is an indented line that begins with "$ "; indented lines below it are its output. Fenced
blocks of YAML whose first line is "# NAME.yaml" are the files that commands read. Nothing is
trained: every figure is a prediction for a machine file of input/machines.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROMPT = "    $ "


def write_inputs(text, folder):
    for name, body in re.findall(r"```yaml\n# (\S+\.yaml)\n(.*?)```", text, re.S):
        (folder / name).write_text(body)
    (folder / "input").symlink_to(ROOT / "input")


def output_of(command, program, folder):
    shell = f'spillway() {{ "{program}" "$@"; }}\n{command}'
    done = subprocess.run(["bash", "-c", shell], cwd=folder, capture_output=True, text=True)
    print(f"{done.returncode}  {command}", file=sys.stderr)
    if done.returncode not in (0, 3):
        sys.exit(done.stderr)
    return done.stdout.strip("\n").split("\n") if done.stdout.strip() else []


def renewed(text, program, folder):
    lines, is_old = [], False
    for line in text.split("\n"):
        if line.startswith(PROMPT):
            lines.append(line)
            lines += [f"    {said}".rstrip()
                      for said in output_of(line[len(PROMPT):], program, folder)]
            is_old = True
        elif is_old and line.startswith("    "):
            continue
        else:
            is_old = is_old and line == ""
            lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path, nargs="?", default=ROOT / "docs/answers.md")
    arguments = parser.parse_args()
    text = arguments.page.read_text()
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(text, pathlib.Path(folder))
        text = renewed(text, arguments.program.resolve(), pathlib.Path(folder))
    arguments.page.write_text(text)


if __name__ == "__main__":
    main()
