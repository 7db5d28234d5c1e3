#!/usr/bin/env python3
"""Writes docs/published.md: what others measured, and what plans for their settings promise.

    tests/bench/published/page.py build/bin/spillway [--only NAME ...] > docs/published.md

Nothing is trained. `jobs/published.sh` builds the program first.
"""
import argparse
import concurrent.futures
import pathlib
import statistics
import sys
import tempfile
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).parent / "papers"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import alst
import autohete
import cannot
import greedysnake
import llmq
import mlp_offload
import protrain
import shadowspill
import surogate
from constants import constants
from planner import Planner
from rows import is_beyond, ratio

PAPERS = tuple(module.PAPER for module in (protrain, llmq, shadowspill, surogate, autohete,
                                           greedysnake, mlp_offload, alst))
HEAD = """# Published figures, planned here

What others measured on GPUs, and what `plan` promises for their settings. **Nothing here was run**:
each figure of ours is a prediction for a machine file of `input/machines`. Made with

    jobs/published.sh

from the rows in `tests/bench/published/papers`; what a source does not say is assumed, and said
there and below. `as theirs` is the plan that they say they ran, as far as our keys can force it,
and is held against their figure; where they say nothing of it, that is the plan that is chosen.
`auto` is the plan that is chosen where theirs is forced. A ratio above 1 means that ours is faster
or fits more. That is no claim to be faster: their steps were measured, with other kernels.
"""
NOT_SAID = "NOT SAID"
COLUMNS = ("setting", "theirs", "ours, as theirs", "ratio", "auto", "off by more than 25 %")


def number(value):
    """Four digits, with commas: what is read back to the same."""
    if value is None:
        return "does not fit"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def cells(row, answer):
    """A row's cells: the last one says why, and is open where nobody has said it yet."""
    ours, auto = answer
    part = ratio(row, ours)
    why = "chosen by this row: " + row.fitted if row.fitted else ""
    if is_beyond(row, ours):
        why = row.why or NOT_SAID
    return (row.setting, f"{number(row.theirs)} {row.unit}", number(ours),
            "-" if part is None else f"{part:.2f}", number(auto) if row.forced else "", why)


def wrapped(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def table(lines):
    return [f"| {' | '.join(COLUMNS)} |", "|" + " --- |" * len(COLUMNS),
            *(f"| {' | '.join(line)} |".replace("|  |", "| |").replace("|  |", "| |")
              for line in lines)]


def errors(judged):
    """The median and the largest error of rows that fit, as the ratios are shown."""
    off = [abs(round(ratio(row, ours), 2) - 1) for row, ours in judged if ours is not None]
    return f"median error {100 * statistics.median(off):.0f} %, largest {100 * max(off):.0f} %"


def summary(answers):
    """How far the judged rows are off, counted from what the tables show."""
    judged = [(row, ours) for row, (ours, _) in answers.items() if not row.fitted]
    beyond = sum(is_beyond(row, ours) for row, ours in judged)
    steps = [one for one in judged if one[0].unit in ("s", "tokens/s")]
    others = [one for one in judged if one not in steps]
    return (f"{len(judged)} rows are judged, {beyond} of them are off by more than 25 %.\n"
            f"{len(steps)} are steps or rates: {errors(steps)}.\n"
            f"{len(others)} are gains or sizes: {errors(others)}.\n"
            f"{len(answers) - len(judged)} more rows have chosen a constant and are not counted.")


def page(answers):
    """The whole text. `answers` has our two figures for each row."""
    lines = [HEAD, summary(answers), "", "## Constants", "",
             "Chosen by rows, at most two a machine; all else is from data sheets, as its file "
             "says.", "", "| machine | constant | value | chosen by |", "| --- | --- | --- | --- |",
             *(f"| {' | '.join(line)} |" for line in constants(answers)), ""]
    for paper in PAPERS:
        lines += [f"## {paper.name}", "", wrapped(paper.about), "",
                  *table(cells(row, answers[row]) for row in paper.rows), ""]
    lines += ["## What others run and we cannot", "", "| figure | what it needs |",
              "| --- | --- |", *(f"| {what} | {why} |" for what, why in cannot.CANNOT)]
    return "\n".join(lines) + "\n"


def answer(planner, row):
    """Our figures for a row: as theirs, and with the plan left open where theirs is forced."""
    ours = planner.answer(row, row.forced)
    return ours, planner.answer(row, {}) if row.forced else ours


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", nargs="+", help="prints the rows of these papers alone")
    args = parser.parse_args()
    papers = [paper for paper in PAPERS if not args.only or paper.name in args.only]
    rows = [row for paper in papers for row in paper.rows]
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ThreadPoolExecutor(2) as pool):
        planner = Planner(args.program, folder)
        answers = dict(zip(rows, pool.map(lambda row: answer(planner, row), rows)))
    if args.only:
        print("\n".join(table(cells(row, answers[row]) for row in rows)))
    else:
        print(page(answers), end="")


if __name__ == "__main__":
    main()
