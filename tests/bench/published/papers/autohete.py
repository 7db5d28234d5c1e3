"""AutoHete, arXiv 2503.01890: what its order of updates gains, and what fits."""
from rows import Paper, Row

KEYS = {"optim.clip": 0, "optim.gradients": "bf16", "memory.nvme": "none", "data.sequence": 1024}
COME = {"plan.early": 100}  # updates as gradients come, as ZeRO-Offload has them


def order(ranks, size, theirs, **more):
    return Row(f"{ranks} x A100 40 GB, GPT {size}: order of need beside order of arrival",
               "a100-40", f"GPT {size}", theirs, "times", ranks=ranks, keys=KEYS,
               micro=(8 // ranks,), against=COME, **more)


PAPER = Paper(
    "AutoHete",
    "arXiv 2503.01890, sequences of 1024 tokens, eight a step. It tells averages over 2 to 22B of "
    "what the order of updates alone gains (1.16, at most 1.24, on one GPU; 1.21, at most 1.30, on "
    "four): sizes are held against the average, and ours gains nothing where it says 1. Its steps "
    "beside ZeRO-Offload and StrongHold are those of other programs' schedules, which no key "
    "forces. Shapes are assumed by their parameters.",
    (
        order(1, "10B", 1.16), order(1, "13B", 1.16), order(1, "18B", 1.16), order(1, "22B", 1.16),
        order(4, "10B", 1.21), order(4, "13B", 1.21), order(4, "18B", 1.21), order(4, "22B", 1.21),
    ),
)
