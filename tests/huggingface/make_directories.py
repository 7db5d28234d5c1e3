#!/usr/bin/env python3
"""make_directories.py ROOT: tiny models as transformers saves them, one folder under ROOT each.

Every model has its config.json in the installed transformers' spelling, and in NAME-older in that
of version 4.
"""
import dataclasses
import json
import shutil
import sys
from pathlib import Path

import torch
import transformers

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    kind: type
    config: dict
    dtype: torch.dtype = torch.float32
    max_shard_size: str = "5GB"
    norms: torch.dtype | None = None  # of the norms, where that is another


LLAMA = dict(num_hidden_layers=2, hidden_size=24, num_attention_heads=3, num_key_value_heads=1,
             intermediate_size=44, vocab_size=61, max_position_embeddings=64)
LLAMA3 = dict(rope_type="llama3", rope_theta=5e5, factor=4.0, low_freq_factor=1.0,
              high_freq_factor=4.0, original_max_position_embeddings=32)
T5 = dict(d_model=24, num_heads=3, d_kv=6, d_ff=36, vocab_size=61, num_layers=2,
          num_decoder_layers=1, relative_attention_num_buckets=8,
          relative_attention_max_distance=12)

MODELS = [
    Model("gpt2", transformers.GPT2LMHeadModel,
          dict(n_layer=2, n_embd=24, n_head=3, n_positions=32, n_inner=52, vocab_size=61,
               bos_token_id=None, eos_token_id=None)),
    Model("bert", transformers.BertForMaskedLM,
          dict(num_hidden_layers=2, hidden_size=24, num_attention_heads=3, intermediate_size=36,
               vocab_size=67, max_position_embeddings=32), torch.float16),
    Model("t5-v1_0", transformers.T5ForConditionalGeneration, T5, max_shard_size="20KB"),
    Model("t5-v1_1", transformers.T5ForConditionalGeneration,
          T5 | dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False), torch.bfloat16),
    Model("llama", transformers.LlamaForCausalLM,
          LLAMA | dict(tie_word_embeddings=True, rope_parameters=LLAMA3), max_shard_size="20KB"),
    Model("llama-untied", transformers.LlamaForCausalLM,
          LLAMA | dict(head_dim=6, rms_norm_eps=1e-5,
                       rope_parameters=dict(rope_type="linear", rope_theta=1e4, factor=2.5)),
          torch.bfloat16, "10KB"),
    Model("qwen2", transformers.Qwen2ForCausalLM,
          LLAMA | dict(tie_word_embeddings=True,
                       rope_parameters=dict(rope_type="default", rope_theta=1e6)),
          torch.bfloat16),
    Model("qwen3", transformers.Qwen3ForCausalLM,
          LLAMA | dict(head_dim=10, rope_parameters=dict(rope_type="default", rope_theta=1e6)),
          torch.float16, "15KB"),
    Model("mistral", transformers.MistralForCausalLM,
          LLAMA | dict(sliding_window=5, rope_parameters=dict(rope_type="default",
                                                              rope_theta=1e4))),
    Model("ministral", transformers.MinistralForCausalLM,
          LLAMA | dict(sliding_window=5, head_dim=8,
                       layer_types=["full_attention", "sliding_attention"]), torch.bfloat16),
    Model("llama-mixed", transformers.LlamaForCausalLM, LLAMA, torch.bfloat16,
          norms=torch.float32),
    Model("llama-ends", transformers.LlamaForCausalLM, LLAMA | dict(eos_token_id=[7, 23, 38])),
]


def make_model(model, generator):
    made = model.kind(model.kind.config_class(**model.config))
    if model.config.get("tie_word_embeddings") is False and hasattr(made, "shared"):
        # transformers 5 ties T5's head whatever its arguments say, until a file brings both.
        made.lm_head.weight = torch.nn.Parameter(made.lm_head.weight.detach().clone())
        made.all_tied_weights_keys.pop("lm_head.weight")
    # No two tensors alike: a norm of ones in another's place would not show.
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(0.2 * torch.randn(parameter.shape, generator=generator))
    made.to(model.dtype)
    for name, module in made.named_modules():
        if model.norms is not None and name.endswith("norm"):
            module.to(model.norms)
    return made


def older(config):
    """The same configuration as transformers 4 spelled it."""
    config = dict(config)
    if "dtype" in config:
        config["torch_dtype"] = config.pop("dtype")
    rope = dict(config.pop("rope_parameters", None) or {})
    if rope:
        config["rope_theta"] = rope.pop("rope_theta")
        config["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    if "scale_decoder_outputs" in config:  # T5: whether the head was tied said it
        config["tie_word_embeddings"] = config.pop("scale_decoder_outputs")
    if config["model_type"] != "ministral":
        config.pop("layer_types", None)
    if config.get("use_sliding_window") is False:  # published Qwen2 and Qwen3 have such a pair
        config["sliding_window"] = 16
    config["transformers_version"] = "4.46.0"
    return config


def rewrite_config(folder, change):
    path = folder / "config.json"
    path.write_text(json.dumps(change(json.loads(path.read_text())), indent=2) + "\n")


def make_directories(root):
    """Returns the folders, in the table's order."""
    folders = []
    for seed, model in enumerate(MODELS):
        folder, twin = root / model.name, root / f"{model.name}-older"
        made = make_model(model, torch.Generator().manual_seed(seed))
        made.save_pretrained(folder, max_shard_size=model.max_shard_size)
        shutil.copytree(folder, twin)
        rewrite_config(twin, older)
        folders += [folder, twin]
    return folders


if __name__ == "__main__":
    for made in make_directories(Path(sys.argv[1])):
        print(made)
