"""Asks `spillway plan --json` what a row of the page asks."""
import json
import pathlib
import re
import subprocess
import sys

from models import MODELS

MACHINES = pathlib.Path(__file__).parents[3] / "input/machines"
CANNOT_FIT = 3


def billions(row, layers):
    """Parameters of a GPT with so many layers, in 1e9."""
    model = MODELS[row.model]
    return (12 * layers + model["vocab"] / model["hidden"]) * model["hidden"] ** 2 / 1e9


# What is asked for the largest number that fits, and that number in the row's unit.
LARGEST = {"B parameters": billions, "sequences": lambda row, micro: micro * row.ranks,
           "tokens of a sequence": lambda row, rows: rows}
# The keys of those numbers that are no sizes of batches.
SIZE = {"B parameters": "model.layers", "tokens of a sequence": "data.sequence"}


def rounded(value):
    """To four digits, which is what the page shows."""
    return None if value is None else float(f"{value:.4g}")


class Planner:
    """Plans for described machines, by one program, with scratch files in one folder."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        (self.folder / "in.yaml").write_text("model: {family: gpt}\n")

    def machine(self, row):
        """The machine's file, or a copy of it with the rates that the row gives instead."""
        path = MACHINES / f"{row.machine}.yaml"
        if not row.machine_with:
            return path
        text = path.read_text()
        for key, value in row.machine_with.items():
            *section, name = key.split(".")
            head = rf"{section[0]}:[^a-z]*(?:.*\n  )*?.*?\b" if section else ""
            text, count = re.subn(rf"^({head}{name}): [^,}}\s]+", rf"\g<1>: {value}", text, count=1,
                                  flags=re.MULTILINE)
            if count == 0:
                sys.exit(f"{path}: no {key}")
        words = "-".join(f"{key}-{value}" for key, value in sorted(row.machine_with.items()))
        path = self.folder / f"{row.machine}-{words}.yaml"
        path.write_text(text)
        return path

    def ask(self, row, keys):
        """What is printed, as data, or None where no plan fits."""
        model = {f"model.{key}": value for key, value in MODELS[row.model].items()}
        command = [self.program, "plan", str(self.folder / "in.yaml"), "--json", "--machine",
                   str(self.machine(row)), "--ranks", str(row.ranks),
                   *(f"{key}={value}" for key, value in (model | row.keys | keys).items())]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == CANNOT_FIT:
            return None
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return json.loads(done.stdout)

    def fastest(self, row, keys):
        """The prediction for the size of micro-batches that is fastest; None if none fits."""
        best = None
        for micro in row.micro:
            batch = {"batch.micro": micro, "batch.sequences": micro * row.ranks * row.micros}
            told = self.ask(row, batch | keys)
            if told is None:
                break
            told = told["predicted"]
            if best is None or told["tokens_per_s"] > best["tokens_per_s"]:
                best = told
        return best

    def largest(self, row, keys):
        """The largest that fits, to a part of 32, in the row's unit."""
        def fits(number):
            micro = number if row.unit == "sequences" else 1
            size = {SIZE[row.unit]: number} if row.unit in SIZE else {}
            return self.ask(row, size | keys | {"batch.micro": micro,
                                                "batch.sequences": micro * row.ranks}) is not None

        does, fails = 0, 1
        while fits(fails):
            does, fails = fails, 2 * fails
        while fails - does > max(1, does // 32):
            middle = (does + fails) // 2
            does, fails = (middle, fails) if fits(middle) else (does, middle)
        return LARGEST[row.unit](row, does) if does else None

    def answer(self, row, keys):
        """Our figure in the row's unit, rounded as it is shown; None where nothing fits."""
        if row.unit in LARGEST:
            return rounded(self.largest(row, keys))
        told = self.fastest(row, keys)
        if told is None:
            return None
        if row.unit == "s":
            return rounded(told["step_s"])
        if row.unit == "times":
            other = self.fastest(row, row.against)
            return None if other is None else rounded(told["tokens_per_s"] / other["tokens_per_s"])
        return rounded(told["tokens_per_s"])
