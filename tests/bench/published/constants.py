"""The constants of machine files that rows have chosen."""
import re

from planner import MACHINES

# What a row chooses, and the keys that then have one value.
KEYS = {"matmul_gflops": r"^matmul_gflops: \{bf16: (\d+)", "links": r"^links: \{h2d_gbps: ([\d.]+)"}
MOST = 2


def constants(rows):
    """Lines of the table: machine, constant, value, the row that has chosen it."""
    lines = []
    for row in sorted((row for row in rows if row.fitted), key=lambda row: row.machine):
        text = (MACHINES / f"{row.machine}.yaml").read_text()
        value = re.search(KEYS[row.fitted], text, re.MULTILINE).group(1)
        lines.append((row.machine, row.fitted, value, row.setting))
    for machine in {line[0] for line in lines}:
        chosen = [line[1] for line in lines if line[0] == machine]
        assert len(chosen) == len(set(chosen)) <= MOST, f"{machine}: {chosen}"
    return lines
