"""What papers measured and no plan here can answer."""

CANNOT = (
    ("SSDTrain, arXiv 2408.10013: all rows", "two GPUs share each layer (tensor parallel), SGD"),
    ("Surogate: 32.8k, 15.9k, 10.2k, 6.0k tokens/s (1.7, 4, 8, 14B) on an H100, 14.0k, 6.8k, 3.8k "
     "(1.7, 4, 8B) on an RTX 5090", "LoRA of rank 16"),
    ("Surogate: 27B on an RTX 5090, 7.175 s a micro-batch", "FP8 and LoRA"),
    ("ShadowSpill: Llama 3 8B 13.49 s, 1.18B 20,361 tokens/s", "LoRA of rank 32"),
    ("Soup: Llama 3.1 8B on an RTX 3050, 119.6 tokens/s", "NF4 and LoRA"),
    ("LLM.Q: its rows in FP8", "FP8"),
    ("AutoHete beside ZeRO-Offload (1.85 times) and StrongHold (1.32 times)",
     "other programs' schedules"),
    ("MLP-Offload: ZeRO-3's 242 and 371 s", "other programs' schedules"),
    ("ALST: 3,700,000 tokens on 8 H100, 15,000,000 on 32", "ranks share a sequence"),
)
