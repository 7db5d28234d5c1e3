"""Prints what the quickstart's run reached: python3 quickstart_report.py RUN_DIR TRAINING_TEXT

Fails if the loss is not below 0.9 of what the text's pairs of bytes alone would allow.
"""

import collections
import json
import math
import pathlib
import sys


def bigram_entropy(text: bytes) -> float:
    """H(next byte | byte) in nats: the loss of the best model that sees one byte only."""
    pairs = collections.Counter(zip(text, text[1:]))
    firsts = collections.Counter(text[:-1])
    total = len(text) - 1
    return -sum(n / total * math.log(n / firsts[first]) for (first, _), n in pairs.items())


def main() -> int:
    run_dir, text = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    rows = [json.loads(line) for line in (run_dir / "metrics.jsonl").read_text().splitlines()]
    steps = [row for row in rows if "event" not in row]
    summary = json.loads((run_dir / "summary.json").read_text())
    last = steps[-5:]
    loss = sum(step["loss"] for step in last) / len(last)
    bar = 0.9 * bigram_entropy(text.read_bytes())
    print(f"loss: {steps[0]['loss']:.3f} at step {steps[0]['step']}, {loss:.3f} at the end;"
          f" 0.9 x bigram entropy of the text: {bar:.3f}")
    print(f"{'peak bytes per rank':<20}{'planned':>14}{'in use':>14}")
    for tier, planned in summary["predicted_peak_bytes"].items():
        print(f"{tier:<20}{planned:>14}{summary['measured_peak_bytes'][tier]:>14}")
    print(f"run directory: {run_dir}")
    if not loss < bar:
        print("the loss did not fall below 0.9 x the bigram entropy", file=sys.stderr)
    return 0 if loss < bar else 1


if __name__ == "__main__":
    sys.exit(main())
