"""LLM.Q, github.com/IST-DASLab/llmq at b77d9691, benchmarks/: bf16 rows of each machine."""
from rows import Paper, Row

KEYS = {"optim.moments": "bf16", "optim.gradients": "bf16", "data.sequence": 1024,
        "memory.nvme": "none"}
# Its optimizer runs on the GPU, where state is unless a flag sends it to main memory.
DEVICE = {"plan.parameters": "device", "plan.optimizer": "device", "plan.gradients": "device",
          "plan.update": "device", "plan.activations": "keep", "plan.group": 1}
STATE = {"plan.optimizer": "host"}  # --offload-opt-m --offload-opt-v [--offload-master]
BLOCK = {"plan.activations": "recompute"}  # --recompute-block
RESIDUAL = {"plan.activations": "recompute+host"}  # --recompute-block --offload-residual
CHEAP = {"plan.activations": "light"}  # --recompute-swiglu, --recompute-norm
# --recompute-ffn, a part of a layer, which no key names; or where theirs do not fit beside our
# state: such rows are marked with a star.
OPEN = {"plan.activations": "auto"}
PLACES = {"plan.parameters": "auto"}
WEIGHTS = {"plan.parameters": "host"}  # --shard-weights on one GPU
GRADIENTS = {"plan.gradients": "host"}  # --shard-gradients --offload-gradients on one GPU
ALL = {"plan.shard": "all"}  # --shard-weights on several
EACH = {"optim.reduction": "each"}  # --shard-gradients on several


def on(machine, ranks, size, theirs, micro, micros, forced, **more):
    """Several GPUs always share out the optimizer's state."""
    shard = {} if ranks == 1 else {"plan.shard": "optimizer"}
    name = {"rtx4090": "RTX 4090", "h100": "H100"}[machine]
    star = " *" if "auto" in forced.values() else ""
    return Row(f"{ranks} x {name}, Qwen2.5 {size}{star}", machine, f"Qwen2.5 {size}", theirs,
               ranks=ranks, keys=KEYS, micro=(micro,), micros=micros,
               forced=DEVICE | shard | forced, **more)


PAPER = Paper(
    "LLM.Q",
    "github.com/IST-DASLab/llmq, its benchmarks in bf16 (those in FP8 cannot be planned: there is "
    "no FP8 here). 524,288 tokens a step, sequences of 1024, moments and gradients in bf16. "
    "`as theirs` forces its flags: what is offloaded, shared out and computed again. A star: "
    "`--recompute-ffn` is a part of a layer, which no key names, or theirs does not fit beside our "
    "two more bytes a parameter (what fp32 masters have more than bf16); what would not fit is "
    "left open. Assumed: main memory and processors of the machines.",
    (
        on("rtx4090", 1, "0.5B", 39842, 16, 32, {}, is_cheap=True),
        on("rtx4090", 1, "1.5B", 14063, 4, 128, OPEN),
        on("rtx4090", 1, "3B", 7001, 4, 128, STATE | OPEN, fitted="matmul_gflops"),
        on("rtx4090", 1, "7B", 2777, 16, 32, STATE | RESIDUAL | WEIGHTS),
        on("rtx4090", 1, "14B", 1348, 32, 16, STATE | RESIDUAL | WEIGHTS | GRADIENTS),
        on("rtx4090", 4, "0.5B", 154000, 16, 8, {}),
        on("rtx4090", 4, "1.5B", 52418, 8, 16, CHEAP),
        on("rtx4090", 4, "3B", 26017, 4, 32, STATE | OPEN),
        on("rtx4090", 4, "7B", 10897, 16, 8, STATE | OPEN | ALL | EACH),
        on("rtx4090", 4, "14B", 5268, 32, 4, STATE | RESIDUAL | ALL | EACH | PLACES),
        on("rtx4090", 4, "32B", 2208, 32, 4, STATE | RESIDUAL | ALL | GRADIENTS | EACH | PLACES),
        on("h100", 1, "0.5B", 149000, 32, 16, {}, is_cheap=True),
        on("h100", 1, "1.5B", 58710, 32, 16, OPEN),
        on("h100", 1, "3B", 30958, 16, 32, OPEN),
        on("h100", 1, "7B", 13863, 4, 128, OPEN | {"plan.optimizer": "auto"}),
        on("h100", 1, "14B", 6321, 8, 64, STATE | OPEN),
        on("h100", 8, "0.5B", 1127000, 32, 2, {}),
        on("h100", 8, "1.5B", 456000, 32, 2, {}),
        on("h100", 8, "3B", 240000, 16, 4, {}, fitted="matmul_gflops"),
        on("h100", 8, "7B", 112000, 8, 8, {}),
        on("h100", 8, "14B", 48866, 16, 4, OPEN | ALL),
    ),
)
