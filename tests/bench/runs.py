"""What benches share that train: what a run has reported, and cases that take turns."""
import json


def reported(run_dir):
    """The lines of a run's metrics that are about steps, and its summary."""
    lines = (run_dir / "metrics.jsonl").read_text().splitlines()
    steps = [row for row in map(json.loads, lines) if "event" not in row]
    return steps, json.loads((run_dir / "summary.json").read_text())


def in_turns(rounds, cases, run):
    """What `run` returns, by case. Every round runs all cases, every other one backwards."""
    results = {case: [] for case in cases}
    for number in range(rounds):
        for case in list(results)[::-1 if number % 2 else 1]:
            results[case].append(run(number, case))
    return results
