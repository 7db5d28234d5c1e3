"""ProTrain, arXiv 2406.08334v2: its tables of throughput, its largest model and batch."""
from rows import Paper, Row

# No gradient's norm is awaited, gradients in two bytes, no drive.
KEYS = {"optim.clip": 0, "optim.gradients": "bf16", "memory.nvme": "none", "data.sequence": 1024}
NARROW = ("layers of 4096 and 5120 reach 38 to 42 % of the peak there and those of 8192 up to "
          "53 %; here one rate of products holds for all widths")


def a100(model, theirs, micro, **more):
    return Row(f"4 x A100, {model}", "a100-80", model, theirs, ranks=4, keys=KEYS, micro=micro,
               **more)


PAPER = Paper(
    "ProTrain",
    "arXiv 2406.08334, throughput of the fastest batch. Sequences of 1024 tokens, no drive. "
    "Assumed: one micro-batch a step, no clipping, shapes of GPT-2 15 to 40B as it gives them.",
    (
        a100("Mistral 7B", 11061, (16, 24, 32), why=NARROW),
        a100("GPT-2 10B", 8266, (16, 24, 32), why=NARROW),
        a100("LLaMA 13B", 6471, (16, 24, 32), why=NARROW),
        a100("GPT-2 20B", 5044, (16, 24, 32), fitted="matmul_gflops"),
        a100("GPT-2 30B", 3431, (8, 16, 24)),
        a100("OPT 30B", 3266, (8, 16, 24)),
        a100("LLaMA 34B", 2845, (8, 16, 24)),
        a100("GPT-2 40B", 2724, (8, 16, 24)),
        Row("16 x A100 in 4 nodes, 100 Gbit/s, GPT 175B, batch 256", "a100-80", "GPT 175B", 2218.7,
            ranks=16, keys=KEYS, micro=(16,), machine_with={"links.network_gbps": 2.5},
            why="each rank fetches parameters over the network by itself here; a ring of NCCL "
                "sends them once to a node of four"),
        Row("1 x RTX 3090, GPT-2 10B", "rtx3090", "GPT-2 10B", 2493 / 3.5, keys=KEYS,
            micro=(16, 32, 48), fitted="matmul_gflops"),
        Row("4 x RTX 3090, GPT-2 10B", "rtx3090", "GPT-2 10B", 2493, ranks=4, keys=KEYS,
            micro=(8, 16, 24)),
        Row("4 x RTX 3090, GPT-2 10B: the plan beside one with all layers computed again",
            "rtx3090", "GPT-2 10B", 1.04, "times", ranks=4, keys=KEYS, micro=(16,),
            against={"plan.activations": "recompute"}),
        Row("1 x RTX 3090, 8192 wide: the largest", "rtx3090", "GPT, 8192 wide", 34,
            "B parameters", keys=KEYS),
        Row("4 x A100, LLaMA 13B: the largest batch", "a100-80", "LLaMA 13B", 228, "sequences",
            ranks=4, keys=KEYS,
            why="ours sends all activations to main memory, which takes 1 TB; ProTrain sends no "
                "more than it hides"),
    ),
)
