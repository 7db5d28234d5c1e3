"""Arctic Long Sequence Training (ALST), arXiv 2506.13996: the longest sequence of one GPU."""
from rows import Paper, Row

# What it says that it does on one GPU: the loss and the MLP by tiles of rows, checkpoints of
# activations in main memory, the optimizer there, too.
TILES = {"batch.mlp_chunk": 4096, "plan.activations": "recompute+host", "plan.optimizer": "host",
         "plan.update": "host"}

LESS = ("a layer's tensors are bf16 here and laid out before the step, nine of them at the peak; "
        "Hugging Face's layer makes norms and rotary positions in fp32, from an allocator. No peak "
        "is told")

PAPER = Paper(
    "ALST",
    "arXiv 2506.13996, abstract and figure 1: the longest sequence of Llama 8B on one H100 of 80 "
    "GB, 500,000 tokens, and 32,000 without what it adds to Hugging Face's trainer. Assumed: "
    "weights in main memory, as ours are.",
    (
        Row("1 x H100, Llama 3 8B: the longest sequence", "h100", "Llama 3 8B", 500_000,
            "tokens of a sequence", forced=TILES, why=LESS),
    ),
)
