"""GreedySnake, arXiv 2512.17570: layers by all micro-batches, beside ZeRO-Infinity."""
from rows import Paper, Row

KEYS = {"optim.clip": 0, "optim.gradients": "bf16", "data.sequence": 2048}
# ZeRO-Infinity: inputs of layers in main memory, all state on the drive, micro-batches one by one.
INFINITY = {"plan.activations": "recompute+host", "plan.parameters": "nvme",
            "plan.optimizer": "nvme", "plan.update": "host", "plan.group": 1,
            "plan.shard": "all"}
# The same with all micro-batches in each layer.
SNAKE = {key: value for key, value in INFINITY.items() if key != "plan.group"}


# One drive of the machine file's kind for the node: a fourth for each rank.
DRIVE = {"nvme.write_gbps": 0.8, "nvme.read_gbps": 1.3, "nvme.both_gbps": 1.4}


def beside(ranks, model, theirs, **more):
    return Row(f"{ranks} x A100, {model}: beside ZeRO-Infinity", "a100-80", model, theirs, "times",
               ranks=ranks, keys=KEYS, micro=(4,), micros=64, forced=SNAKE, against=INFINITY,
               machine_with=DRIVE, **more)


PAPER = Paper(
    "GreedySnake",
    "arXiv 2512.17570: how much faster layers that all micro-batches pass one after another are "
    "than ZeRO-Infinity. Both are forced here, with all state on drives; `auto` uses all memory "
    "that there is, and is beside ZeRO-Infinity, too. Assumed: 64 micro-batches of 4 sequences of "
    "2048 tokens, since it tells gains of saturated steps, and one PM9A3 for all GPUs.",
    (
        beside(1, "GPT 65B", 1.96),
        beside(4, "GPT 65B", 1.93),
        beside(1, "GPT 175B", 2.53,
               why="ZeRO-Infinity's order of work is simulated here with all copies beside the "
                   "computation; how long its own steps of 175B take is not told"),
    ),
)
