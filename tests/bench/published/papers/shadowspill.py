"""ShadowSpill, github.com/als244/shadowspill, its reports of full training and of LoRA."""
from rows import Paper, Row

# All state in bf16, without masters: 8 bytes a parameter there, 10 here.
KEYS = {"optim.moments": "bf16", "optim.gradients": "bf16", "optim.clip": 0, "memory.nvme": "none"}
EIGHT = KEYS | {"data.sequence": 1024, "memory.device": "16GiB"}
LORA = {"model.lora": "{rank: 32, alpha: 64, targets: all}"}
HOST = {"plan.parameters": "host", "plan.optimizer": "host", "plan.gradients": "host",
        "plan.update": "device"}

PAPER = Paper(
    "ShadowSpill",
    "github.com/als244/shadowspill on one RTX 5090: 65,536 tokens a step in eight micro-batches of "
    "eight sequences within 16 GiB, 8 bytes a parameter, where ours has 10. Its updates are on the "
    "GPU; those of 8B are left open here, since two more bytes do not fit. LoRA is of rank 32; of "
    "which layers is not said, and taken to be all.",
    (
        Row("Llama 3 8B, within 16 GiB", "rtx5090", "Llama 3 8B", 18.43, "s", keys=EIGHT,
            micro=(8,), micros=8, fitted="matmul_gflops"),
        Row("Llama 3 8B, within 16 GiB, all saved", "rtx5090", "Llama 3 8B", 22.23, "s",
            keys=EIGHT, micro=(8,), micros=8, forced={"plan.activations": "host"}),
        Row("Llama 3 1.18B, state in main memory, 4 sequences of 512", "rtx5090", "Llama 3 1.18B",
            3959, keys=KEYS | {"data.sequence": 512}, micro=(4,), forced=HOST, fitted="links"),
        Row("Llama 3 8B, within 16 GiB, LoRA", "rtx5090", "Llama 3 8B", 13.49, "s",
            keys=EIGHT | LORA, micro=(8,), micros=8),
        Row("Llama 3 1.18B, LoRA, all in main memory, 4 sequences of 512", "rtx5090",
            "Llama 3 1.18B", 20361, keys=KEYS | LORA | {"data.sequence": 512}, micro=(4,),
            forced={"plan.parameters": "host"}),
    ),
)
