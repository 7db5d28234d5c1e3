#!/usr/bin/env python3
"""round_trip.py PROGRAM: what transformers saved comes back the same through PROGRAM's checkpoints.

PROGRAM is spillway, or a command that ends with it. Every folder that make_directories.py makes
goes through `PROGRAM import DIR -o CHECKPOINT` and `PROGRAM export CHECKPOINT -o DIR`. Tensors,
their types and the logits that transformers computes must then be equal. Damaged and foreign
folders must be refused by name. One line each; exits 1 where anything differs, 77 where torch or
transformers are not installed.
"""
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import torch
    import transformers
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file
except ImportError as missing:
    print(f"round_trip: {missing}: not tested")
    sys.exit(77)

from make_directories import make_directories, rewrite_config

TIMEOUT_S = 3000  # it hangs


class Difference(Exception):
    pass


def run(program, *words):
    """Returns the exit status and all that was said."""
    done = subprocess.run([*program, *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False)
    return done.returncode, done.stdout


def run_well(program, *words):
    status, said = run(program, *words)
    if status != 0:
        raise Difference(f"{words[0]} exits {status}: {said.strip()}")


def stored(folder):
    """Tensors by name, as they are in the folder's files."""
    tensors = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            for name in file.keys():
                if name in tensors:
                    raise Difference(f"{name} is in two files")
                tensors[name] = file.get_tensor(name)
    return tensors


def compare_tensors(before, after):
    if before.keys() != after.keys():
        raise Difference(f"names differ: {sorted(before.keys() ^ after.keys())}")
    for name, tensor in before.items():
        if tensor.dtype != after[name].dtype:
            raise Difference(f"{name} was {tensor.dtype} and is {after[name].dtype}")
        if not torch.equal(tensor, after[name]):
            raise Difference(f"{name} differs")


def load(folder, dtype="auto"):
    """The model that config.json asks for, its tensors in the type that it says, or in this one."""
    config = json.loads((folder / "config.json").read_text())
    kind = getattr(transformers, config["architectures"][0])
    model, report = kind.from_pretrained(folder, dtype=dtype, output_loading_info=True)
    wrong = {what: list(names) for what, names in report.items() if names}
    if wrong:
        raise Difference(f"transformers finds {wrong}")
    return model.eval()


def logits(model):
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(1, model.config.vocab_size, (2, 24), generator=generator)
    more = {"decoder_input_ids": tokens[:, :9]} if model.config.is_encoder_decoder else {}
    with torch.no_grad():
        return model(input_ids=tokens, **more).logits


def compare_models(before, after):
    compare_tensors(before.state_dict(), after.state_dict())
    expected, got = logits(before), logits(after)
    if got.dtype != expected.dtype or not torch.equal(got, expected):
        raise Difference("the logits differ")


def greedy(folder, prompt, count):
    """The ids that transformers goes on with in fp32."""
    model = load(folder, torch.float32)
    is_t5 = model.config.is_encoder_decoder
    start = {"decoder_start_token_id": 0} if is_t5 else {}
    ids = model.generate(torch.tensor([prompt]), max_new_tokens=count, do_sample=False, **start)
    return ids[0].tolist()[is_t5:]


def compare_generated(program, folder, checkpoint):
    """BERT fills instead of going on."""
    config = json.loads((folder / "config.json").read_text())
    if config["architectures"] == ["BertForMaskedLM"]:
        return
    prompt, count = [5, 17, 3, 40, 8], 12
    ids = ["data.sentinel_id=60"] \
        if config["architectures"] == ["T5ForConditionalGeneration"] else []
    status, said = run(program, "generate", "--checkpoint", checkpoint, "--temperature", 0,
                       "--precision", "fp32", "--tokens", count,
                       "--prompt-ids", ",".join(map(str, prompt)), *ids)
    expected = " ".join(map(str, greedy(folder, prompt, count)))
    if status != 0 or said.strip() != expected:
        raise Difference(f"generate exits {status} with {said.strip()} instead of {expected}")


def round_trip(program, folder, scratch):
    checkpoint, back = scratch / "checkpoint", scratch / "back"
    run_well(program, "import", folder, "-o", checkpoint)
    run_well(program, "export", checkpoint, "-o", back)
    compare_generated(program, folder, checkpoint)
    tensors = stored(folder)
    compare_tensors(tensors, stored(back))
    kinds = {str(tensor.dtype).removeprefix("torch.") for tensor in tensors.values()}
    # Of several types transformers makes the one that config.json says, and rounds.
    compare_models(load(folder, "auto" if len(kinds) == 1 else torch.float32), load(back))
    return f"{len(tensors)} tensors in {', '.join(kinds)} and the logits are equal"


def cut_one_byte(folder):
    """Returns the name of the shard that is cut."""
    shard = sorted(folder.glob("model-*.safetensors"))[1]
    shard.write_bytes(shard.read_bytes()[:-1])
    return shard.name


def spoil_weights(folder):
    """Returns the name of the tensor that is no number in places."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    name = "model.layers.1.mlp.up_proj.weight"
    tensors[name][1, :3] = torch.tensor([torch.nan, torch.inf, 1])
    save_file(tensors, path, {"format": "pt"})
    return f"{name}: 2 of {tensors[name].numel()} values are not finite"


def change_config(**values):
    """Returns what makes this change to a folder and says which word must be named."""
    def change(folder):
        rewrite_config(folder, lambda config: config | values)
        return next(iter(values))

    return change


REFUSED = [
    ("a shard one byte short", "llama", cut_one_byte),
    ("weights that are no numbers", "mistral", spoil_weights),
    ("windows in any layers", "mistral",
     change_config(layer_types=["sliding_attention", "full_attention"])),
    ("a decoder that starts with another token", "t5-v1_0",
     change_config(decoder_start_token_id=5)),
    ("a window where llama has none", "llama", change_config(sliding_window=8)),
    ("tokens that see all others", "qwen3", change_config(is_causal=False)),
    ("biases that our llama has not", "llama", change_config(attention_bias=True)),
    ("a scaling that we have not", "llama-older",
     change_config(rope_scaling=dict(rope_type="yarn", factor=4.0))),
]


def refusal(program, folder, damage, scratch):
    damaged, checkpoint = scratch / "damaged", scratch / "checkpoint"
    shutil.copytree(folder, damaged)
    word = damage(damaged)
    status, said = run(program, "import", damaged, "-o", checkpoint)
    if status <= 0:
        raise Difference(f"import exits {status}")
    if word not in said:
        raise Difference(f"import does not name {word}: {said.strip()}")
    if checkpoint.exists():
        raise Difference("import leaves a checkpoint")
    return f"refused: {said.strip().splitlines()[-1]}"


def tell(what, check, *arguments):
    """Prints how a check went; returns whether it went well."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            print(f"{what}: {check(*arguments, Path(scratch))}", flush=True)
            return True
        except (Difference, OSError, ValueError, subprocess.TimeoutExpired) as difference:
            print(f"{what}: FAILED: {difference}", flush=True)
            return False


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = shlex.split(sys.argv[1])
    with tempfile.TemporaryDirectory() as root:
        folders = make_directories(Path(root))
        well = [tell(folder.name, round_trip, program, folder) for folder in folders]
        well += [tell(what, refusal, program, Path(root) / name, damage)
                 for what, name, damage in REFUSED]
    print(f"{sum(well)} passed, {len(well) - sum(well)} failed")
    sys.exit(not all(well))


if __name__ == "__main__":
    main()
