"""Surogate, github.com/invergent-ai/surogate, docs/reference/benchmarks.md: its rows in bf16."""
from rows import Paper, Row

KEYS = {"data.sequence": 2048, "model.lora": "{rank: 16, alpha: 32, targets: all}"}


def on(machine, size, theirs, **more):
    """Four micro-batches of two sequences a step."""
    name = {"rtx5090": "RTX 5090", "h100": "H100"}[machine]
    return Row(f"{name}, Qwen3 {size}", machine, f"Qwen3 {size}", theirs, keys=KEYS, micro=(2,),
               micros=4, forced={"plan.activations": "recompute"}, **more)


PAPER = Paper(
    "Surogate",
    "github.com/invergent-ai/surogate, its benchmarks in bf16: LoRA of rank 16 on all linear "
    "layers of a base in bf16, two sequences of 2048 in each of four micro-batches a step. "
    "Recompute is on there by default, and its configuration leaves it so.",
    (
        on("rtx5090", "0.6B", 30100, is_cheap=True),
        on("rtx5090", "1.7B", 14000),
        on("rtx5090", "4B", 6800),
        on("rtx5090", "8B", 3800),
        on("h100", "0.6B", 53900),
        on("h100", "1.7B", 32800),
        on("h100", "4B", 15900),
        on("h100", "8B", 10200),
        on("h100", "14B", 6000),
    ),
)
