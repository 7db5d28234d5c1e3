#!/usr/bin/env python3
"""config_keys.py PROGRAM [VERDICTS]: what changes transformers' function is not left out.

For each class that import takes, every key of its configuration class, of the base class, of
transformers 4's and of published files is given other values, one at a time. AutoModel's logits
(of T5 also the loss, which the start of the decoder decides) say whether the function is the same,
another, or none. What is the same must be imported as the same model, but for the keys of
REFUSED_ANYWAY; what is another must be refused, or go on as transformers does. Writes what
transformers says to VERDICTS (tests/goldens/config_keys.jsonl), by which tests/unit holds
describe_model where no transformers is. Exits 77 where torch or transformers are not installed.
"""
import dataclasses
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import torch
    import transformers
    from transformers.generation import GenerationConfig
except ImportError as missing:
    print(f"config_keys: {missing}: not tested")
    sys.exit(77)

from make_directories import LLAMA, T5, Model, make_model

TIMEOUT_S = 300
END = 2  # ends what generate makes
LENGTH = 14  # of a text: longer than windows, shorter than tables of positions

CAUSAL, MASKED, SPANS = (transformers.AutoModelForCausalLM, transformers.AutoModelForMaskedLM,
                         transformers.AutoModelForSeq2SeqLM)
MODELS = {
    CAUSAL: [
        Model("gpt2", transformers.GPT2LMHeadModel,
              dict(n_layer=2, n_embd=24, n_head=3, n_positions=32, n_inner=52, vocab_size=61,
                   bos_token_id=None, eos_token_id=None)),
        Model("llama", transformers.LlamaForCausalLM, LLAMA),
        Model("qwen2", transformers.Qwen2ForCausalLM,
              LLAMA | dict(use_sliding_window=True, sliding_window=5, max_window_layers=1)),
        Model("qwen3", transformers.Qwen3ForCausalLM, LLAMA | dict(head_dim=10)),
        Model("mistral", transformers.MistralForCausalLM, LLAMA | dict(sliding_window=5)),
        Model("ministral", transformers.MinistralForCausalLM,
              LLAMA | dict(sliding_window=5, head_dim=8,
                           layer_types=["full_attention", "sliding_attention"])),
    ],
    MASKED: [Model("bert", transformers.BertForMaskedLM,
                   dict(num_hidden_layers=2, hidden_size=24, num_attention_heads=3,
                        intermediate_size=36, vocab_size=61, max_position_embeddings=32))],
    SPANS: [Model("t5", transformers.T5ForConditionalGeneration,
                  T5 | dict(decoder_start_token_id=0))],
}

# Of transformers 4's base class, and of published files.
OLDER = {
    "torch_dtype": ["float32"], "use_bfloat16": [True], "tf_legacy_loss": [True],
    "pruned_heads": [{}, {"0": [1]}], "cross_attention_hidden_size": [8],
    "tie_encoder_decoder": [True], "finetuning_task": ["mnli"], "tokenizer_class": ["Other"],
    "prefix": ["summarize: "], "sep_token_id": [3], "decoder_start_token_id": [5],
    "task_specific_params": [{"text-generation": {"do_sample": True, "max_length": 50}}],
    "xla_device": [True], "torchscript": [True], "gradient_checkpointing": [True],
    "_commit_hash": ["0f"], "_name_or_path": ["a/b"], "name_or_path": ["a/b"],
    "transformers.js_config": [{"kv_cache_dtype": {"q4f16": "float16"}}],
    "output_past": [True], "_num_labels": [3], "num_labels": [3], "n_ctx": [48],
    "unsloth_fixed": [True], "unsloth_version": ["2025.1"], "attn_implementation": ["eager"],
    "_attn_implementation": ["sdpa"], "_attn_implementation_autoset": [True],
    "quantization_config": [None], "auto_map": [{}], "is_causal": [False, True, None],
    "output_attentions": [True], "mlp_bias": [False], "attention_bias": [False],
}

LLAMAS = ["llama", "mistral", "ministral", "qwen2", "qwen3"]
OLDER_OF_SOME = [
    (["bert"], {"directionality": ["bidi"], "pooler_type": ["first_token_transform"],
                "pooler_fc_size": [768], "position_embedding_type": ["absolute"]}),
    (["gpt2"], {"n_special": [0], "predict_special_tokens": [True]}),
    (["t5"], {"n_positions": [512]}),
    (LLAMAS, {"max_sequence_length": [2048], "is_llama_config": [True],
              "rope_interleaved": [False], "rope_theta": [5e5],
              "rope_scaling": [None, {"rope_type": "linear", "factor": 2.0}]}),
]

FULL, SLIDING = "full_attention", "sliding_attention"
# What no type says.
VALUES = {
    "layer_types": [[FULL, SLIDING], [SLIDING, FULL], [FULL, FULL], [SLIDING, SLIDING], None],
    "hidden_act": ["gelu", "silu"], "activation_function": ["gelu", "gelu_pytorch_tanh"],
    "feed_forward_proj": ["gelu", "gated-gelu"], "dtype": ["float32"],
    "architectures": [["Other"]], "problem_type": ["regression"], "id2label": [{"0": "no"}],
    "label2id": [{"no": 0}], "summary_type": ["mean"],
    "rope_parameters": [{"rope_type": "default", "rope_theta": 5e5}],
    "eos_token_id": [7, [7, 8], None], "pad_token_id": [9, None], "per_layer_config": [{}],
    "num_key_value_heads": [3, None], "head_dim": [6, None], "n_inner": [36, None],
    "early_stopping": [True, "never"], "exponential_decay_length_penalty": [[3, 1.5]],
    "bad_words_ids": [[[7]]], "suppress_tokens": [[7]], "begin_suppress_tokens": [[7]],
    "sliding_window": [4, None], "use_sliding_window": [True, False],
    "num_decoder_layers": [2, None],
}

# Classes with keys alike, so that a model is as small.
TYPES = {"gpt2": ["gpt2", "imagegpt"], "bert": ["bert", "roberta"], "t5": ["t5", "mt5"]} | \
    dict.fromkeys(LLAMAS, LLAMAS)

# Nothing comes of these here, but other versions or programs compute something else by them.
REFUSED_ANYWAY = {
    "architectures", "model_type",  # name the class itself
    "rope_theta", "feed_forward_proj",  # where rope_parameters or dense_act_fn say another
    "pad_token_id",  # of T5, whose decoder starts with it here
    "tie_encoder_decoder", "cross_attention_hidden_size", "pruned_heads",  # of transformers 4
    "mlp_bias", "attention_bias", "sliding_window", "use_sliding_window",  # of other classes
    "is_encoder_decoder", "is_decoder", "add_cross_attention", "layer_types",
    "num_key_value_heads", "head_dim", "max_window_layers", "is_causal",
}


def values_of(name, default, kind):
    """Others than the default."""
    if name in VALUES:
        return VALUES[name]
    if name in OLDER:
        return OLDER[name]
    if isinstance(default, bool):
        return [not default]
    if isinstance(default, int):
        return [default + 1]
    if isinstance(default, float):
        return [2 * default + 0.125]
    if isinstance(default, str):
        return ["other"]
    return [7] if "int" in str(kind) else [0.5] if "float" in str(kind) else ["other"]


def keys_of(config):
    """Yields names and values."""
    kind = type(config)
    seen = {}
    for field in dataclasses.fields(kind):
        default = getattr(config, field.name)
        seen[field.name] = values_of(field.name, default, field.type)
    for name, default in GenerationConfig._get_default_generation_params().items():
        seen.setdefault(name, values_of(name, default, "int"))
    for name, ours in kind.attribute_map.items():
        seen[name] = [getattr(config, ours), getattr(config, ours) + 1]
    for kinds, values in OLDER_OF_SOME:
        if kind.model_type in kinds:
            seen |= values
    more = {"model_type": TYPES[kind.model_type], "layer_types": VALUES["layer_types"]}
    for name, values in (OLDER | more).items():
        seen.setdefault(name, values)
    for name, values in sorted(seen.items()):
        for value in values:
            yield name, value


def computed(auto, folder):
    """The logits that AutoModel computes, of T5 with its loss; none where it does not load all."""
    model, report = auto.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    if any(list(names) for names in report.values()):
        return None
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(10, 60, (2, LENGTH), generator=generator)
    labels = {"labels": tokens[:, :6].contiguous()} if auto is SPANS else {}
    with torch.no_grad():
        result = model.eval()(input_ids=tokens, **labels, return_dict=True)
    return result.logits


def verdict(auto, folder, expected):
    try:
        got = computed(auto, folder)
    except Exception:  # whatever it is: there is no such model
        return "fails"
    if got is None:
        return "fails"
    # Attention of another kind rounds otherwise.
    return "same" if torch.allclose(got, expected, rtol=1e-5, atol=1e-5) else "other"


def run(program, *words):
    done = subprocess.run([*program, *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=False)
    return done.returncode, done.stdout, done.stderr


def section(said):
    """The model that import says; what the data have are tokens."""
    return said.split("data:")[0]


def goes_on(program, auto, folder, checkpoint):
    """Whether generate goes on as transformers does, or fills with the same chances."""
    prompt = [5, 17, 3, 40, 8, 11, 29, 33]
    words = ["generate", "--checkpoint", checkpoint, "--prompt-ids", ",".join(map(str, prompt))]
    model = auto.from_pretrained(folder, dtype=torch.float32).eval()
    if auto is MASKED:
        _, said, _ = run(program, *words, "--top", 61, "data.mask_id=40")
        with torch.no_grad():
            chances = torch.softmax(model(torch.tensor([prompt])).logits[0, 3], -1)
        got = dict(map(float, pair.split()) for pair in said.split(":")[1].split(","))
        return all(abs(got[i] - chances[i].item()) < 2e-4 for i in range(61))
    ids = [0] if auto is SPANS else list(prompt)
    for _ in range(12):
        with torch.no_grad():
            logits = model(torch.tensor([prompt]), decoder_input_ids=torch.tensor([ids])).logits \
                if auto is SPANS else model(torch.tensor([ids])).logits
        ids.append(int(logits[0, -1].argmax()))
        if ids[-1] == END:
            break
    words += ["--tokens", 12, "--temperature", 0, f"data.eos_id={END}"]
    if auto is SPANS:
        words += ["data.sentinel_id=60", "data.pad_id=0"]
    _, said, _ = run(program, *words)
    return list(map(int, said.split())) == (ids[1:] if auto is SPANS else ids)


def judged(program, auto, folder, name, said, base):
    """What is wrong with what import made of a changed folder; empty: nothing is."""
    with tempfile.TemporaryDirectory() as scratch:
        checkpoint = Path(scratch) / "checkpoint"
        status, out, error = run(program, "import", folder, "-o", checkpoint)
        if status not in (0, 2):
            return f"import exits {status}: {error.strip()}"
        if said == "same":
            if status == 2:
                return "" if name in REFUSED_ANYWAY else f"changes nothing: {error.strip()}"
            return "" if section(out) == section(base) else "becomes another model"
        if said == "other" and status == 0:
            if section(out) == section(base):
                return "is left out, and transformers computes something else"
            if not goes_on(program, auto, folder, checkpoint):
                return "becomes another model than transformers'"
    return ""


def survey(program, auto, model, root, write):
    """Returns how many keys were tried, and what is wrong with them."""
    folder = root / model.name
    made = make_model(model, torch.Generator().manual_seed(3))
    made.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    file = folder / "config.json"
    config = json.loads(file.read_text())
    expected = computed(auto, folder)
    base = run(program, "import", folder, "-o", root / f"{model.name}-base")[1]
    write({"class": model.kind.__name__, "config": config})
    wrong, tried = [], 0
    for name, value in keys_of(made.config):
        file.write_text(json.dumps(config | {name: value}))
        said = verdict(auto, folder, expected)
        write({"key": name, "value": value, "transformers": said,
               "may_be_refused": name in REFUSED_ANYWAY})
        tried += 1
        if problem := judged(program, auto, folder, name, said, base):
            wrong.append(f"{name}: {json.dumps(value)} {problem}")
    return tried, wrong


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    transformers.utils.logging.set_verbosity(transformers.logging.CRITICAL)
    torch.set_num_threads(1)
    program = shlex.split(sys.argv[1])
    rows = []
    tried, wrong = 0, []
    with tempfile.TemporaryDirectory() as root:
        for auto, models in MODELS.items():
            for model in models:
                count, problems = survey(program, auto, model, Path(root), rows.append)
                tried, wrong = tried + count, wrong + problems
                print(f"{model.name}: {count} values, {len(problems)} wrong", *problems, sep="\n  ",
                      flush=True)
    if len(sys.argv) == 3:
        Path(sys.argv[2]).write_text("".join(json.dumps(row) + "\n" for row in rows))
    print(f"{tried - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
