"""What papers measured and no plan here can answer."""

CANNOT = (
    ("SSDTrain, arXiv 2408.10013: all rows", "two GPUs share each layer (tensor parallel), SGD"),
    ("Surogate: 27B on an RTX 5090, 7.175 s a micro-batch", "FP8 and LoRA"),
    ("Soup: Llama 3.1 8B in NF4 on an RTX 3050, 119.6 tokens/s", "to know its sequences and link"),
    ("LLM.Q: its rows in FP8", "FP8"),
    ("AutoHete beside ZeRO-Offload (1.85 times) and StrongHold (1.32 times)",
     "other programs' schedules"),
    ("MLP-Offload: ZeRO-3's 242 and 371 s", "other programs' schedules"),
    ("ALST: 3,700,000 tokens on 8 H100, 15,000,000 on 32", "ranks share a sequence"),
)
