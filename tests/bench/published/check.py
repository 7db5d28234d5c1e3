#!/usr/bin/env python3
"""The test `published_page`: the committed page, its data and this program agree.

    check.py build/bin/spillway

The page is made again from its own figures of ours, so that a row, a ratio, a count or a constant
that is not the data's shows; a row that is off by more than a quarter and does not say why is
refused; and cheap rows are planned anew. Then the page is damaged in each of these ways, which has
to show. Prints what is wrong and ends with 1.
"""
import difflib
import pathlib
import re
import sys
import tempfile

import page
from planner import Planner

COMMITTED = pathlib.Path(__file__).parents[3] / "docs/published.md"
MAKE = "run jobs/published.sh and commit docs/published.md"


def number(cell):
    return None if cell == "does not fit" else float(cell.replace(",", ""))


def cells_of(text):
    """Cells of each line of a table, by the section's title and the first cell."""
    cells = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        if line.startswith("| "):
            line = [cell.strip() for cell in line.split("|")[1:-1]]
            cells[section, line[0]] = line
    return cells


def answers_of(text):
    """Our figures of each row as the page has them; raises KeyError for a row that it lacks."""
    cells = cells_of(text)
    answers = {}
    for paper in page.PAPERS:
        for row in paper.rows:
            _, _, ours, _, auto, _ = cells[paper.name, row.setting]
            answers[row] = (number(ours), number(auto) if row.forced else number(ours))
    return answers


def complaint(text):
    """What contradicts the data, or the empty text."""
    try:
        answers = answers_of(text)
    except (KeyError, ValueError) as error:
        return f"no figures for {error}"
    made = page.page(answers)
    if made != text:
        return "\n".join(difflib.unified_diff(text.splitlines(), made.splitlines(), "committed",
                                              "by its data", lineterm="", n=0))
    return "a row is off by more than a quarter and does not say why" * (page.NOT_SAID in text)


def other_plans(text, planner):
    """The cheap rows whose plans are not the page's."""
    answers = answers_of(text)
    now = {row: page.answer(planner, row) for row in answers if row.is_cheap}
    return [f"{row.setting}: {one} by this program, {answers[row]} by the page"
            for row, one in now.items() if one != answers[row]]


def with_other(text, setting, column, cell):
    """The page with another cell in the row of that setting."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"| {setting} |"))
    parts = lines[at].split("|")
    parts[column] = f" {cell} "
    return "\n".join(lines[:at] + ["|".join(parts)] + lines[at + 1:]) + "\n"


def damaged(text, row):
    """Pages that are wrong in one way each."""
    ours = number(cells_of(text)[page.PAPERS[0].name, row.setting][2])
    yield "theirs", with_other(text, row.setting, 2, "1 tokens/s")
    yield "ours", with_other(text, row.setting, 3, page.number(2 * ours))
    yield "ratio", with_other(text, row.setting, 4, "0.00")
    yield "a row is missing", re.sub(rf"\n\| {re.escape(row.setting)} \|.*", "", text)
    yield "the count", re.sub(r"\d+ rows are judged", "1 rows are judged", text)
    yield "a constant", with_other(text, "a100-80", 3, "1")
    yield "a figure that cannot be", with_other(text, row.setting, 3, "many")


def main():
    text = COMMITTED.read_text()
    wrong = complaint(text)
    if wrong:
        sys.exit(f"docs/published.md: {wrong}\n{MAKE}")
    for what, other in damaged(text, page.PAPERS[0].rows[0]):
        if not complaint(other):
            sys.exit(f"a page that is wrong in '{what}' passes")
    with tempfile.TemporaryDirectory() as folder:
        others = other_plans(text, Planner(sys.argv[1], folder))
    if others:
        sys.exit("\n".join([*others, MAKE]))


if __name__ == "__main__":
    main()
