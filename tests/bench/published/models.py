"""Shapes of the models, as keys of `model`."""


def gpt(layers, hidden, heads, vocab=50257):
    return {"family": "gpt", "layers": layers, "hidden": hidden, "heads": heads, "vocab": vocab}


def llama(layers, hidden, heads, kv_heads, ffn, vocab=32000, tied="false"):
    return {"family": "llama", "layers": layers, "hidden": hidden, "heads": heads,
            "kv_heads": kv_heads, "ffn": ffn, "vocab": vocab, "tied": tied}


def qwen3(layers, hidden, heads, ffn, tied="true"):
    return {**llama(layers, hidden, heads, 8, ffn, 151936, tied), "head_size": 128,
            "qk_norm": "true"}


MODELS = {
    "Mistral 7B": llama(32, 4096, 32, 8, 14336),
    "LLaMA 13B": llama(40, 5120, 40, 40, 13824),
    "LLaMA 34B": llama(48, 8192, 64, 8, 22016),
    "GPT-2 10B": gpt(48, 4096, 32),
    "GPT-2 20B": gpt(24, 8192, 64),
    "GPT-2 30B": gpt(36, 8192, 64),
    "GPT-2 40B": gpt(50, 8192, 64),
    "OPT 30B": gpt(48, 7168, 56, 50272),
    "GPT 65B": gpt(80, 8192, 64),
    "GPT 175B": gpt(96, 12288, 96),
    "GPT, 8192 wide": gpt(1, 8192, 64),
    "Llama 40B": llama(128, 5120, 40, 4, 20480, 50304),
    "Llama 52B": llama(64, 8192, 64, 4, 21824, 50304),
    "Llama 70B": llama(80, 8192, 64, 4, 28672, 50304),
    "Llama 100B": llama(124, 8192, 64, 4, 28672, 50304),
    "Llama 120B": llama(96, 10240, 80, 4, 28672, 50304),
    "Qwen2.5 0.5B": llama(24, 896, 14, 2, 4864, 151936, "true"),
    "Qwen2.5 1.5B": llama(28, 1536, 12, 2, 8960, 151936, "true"),
    "Qwen2.5 3B": llama(36, 2048, 16, 2, 11008, 151936, "true"),
    "Qwen2.5 7B": llama(28, 3584, 28, 4, 18944, 152064),
    "Qwen2.5 14B": llama(48, 5120, 40, 8, 13824, 152064),
    "Qwen2.5 32B": llama(64, 5120, 40, 8, 27648, 152064),
    "Qwen3 0.6B": qwen3(28, 1024, 16, 3072),
    "Qwen3 1.7B": qwen3(28, 2048, 16, 6144),
    "Qwen3 4B": qwen3(36, 2560, 32, 9728),
    "Qwen3 8B": qwen3(36, 4096, 32, 12288, "false"),
    "Qwen3 14B": qwen3(40, 5120, 40, 17408, "false"),
    "Llama 3 8B": llama(32, 4096, 32, 8, 14336, 128256),
    "Llama 3 1.18B": llama(12, 2048, 16, 8, 7168, 128256),
    "GPT 4B": gpt(21, 4096, 32),
    "GPT 6B": gpt(29, 4096, 32),
    "GPT 10B": gpt(32, 5120, 40),
    "GPT 13B": gpt(29, 6144, 48),
    "GPT 18B": gpt(40, 6144, 48),
    "GPT 22B": gpt(27, 8192, 64),
}
