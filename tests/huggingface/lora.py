#!/usr/bin/env python3
"""lora.py PROGRAM: adapters that PROGRAM trains are those of PEFT.

PROGRAM is spillway, or a command that ends with it. Small random models of transformers get
adapters (model.lora), which are exported before their first step, loaded by PEFT and trained there
on the same text: losses of five steps, and the adapters then, must be equal but for rounding. What
`export` writes must load in PEFT, what `export --merged` writes in transformers, with the logits of
the adapted model. One line each; exits 1 where anything differs, 77 where torch, transformers or
peft are not installed.
"""
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import peft
    import torch
    import transformers
    from safetensors.torch import load_file
except ImportError as missing:
    print(f"lora: {missing}: not tested")
    sys.exit(77)

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()

TIMEOUT_S = 3000  # it hangs
SEQUENCE, STEPS = 48, 5
OPTIM = dict(lr=3e-3, weight_decay=0.1, betas=(0.9, 0.95), eps=1e-8)
CASES = {
    "llama": ("llama", "q_proj,v_proj"),
    "llama-all": ("llama", "all"),
    "gpt2": ("gpt2", "qkv"),
    "gpt2-some": ("gpt2", "o,up"),
}


class Difference(Exception):
    pass


def run(program, *words, status=0):
    """Returns all that was said by a command that must end so."""
    done = subprocess.run([*program, *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != status:
        raise Difference(f"{words[0]} exits {done.returncode}: {done.stdout.strip()}")
    return done.stdout


def save_model(kind, folder):
    torch.manual_seed(3)
    if kind == "llama":
        config = transformers.LlamaConfig(
            num_hidden_layers=2, hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
            intermediate_size=80, vocab_size=288, max_position_embeddings=64,
            tie_word_embeddings=False)
        model = transformers.LlamaForCausalLM(config)
    else:
        config = transformers.GPT2Config(
            n_layer=2, n_embd=48, n_head=4, n_positions=64, vocab_size=288, bos_token_id=None,
            eos_token_id=None, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
        model = transformers.GPT2LMHeadModel(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:  # what it says is to depend on all of it
                parameter.normal_(0, 0.08)
    model.save_pretrained(folder)
    return model


def tokens():
    """Two windows of text, of which each has a token more to predict."""
    generator = torch.Generator().manual_seed(5)
    return torch.randint(97, 123, (2 * SEQUENCE + 1,), generator=generator).tolist()


def train(program, root, model, steps, name, status=0):
    if not (root / "text.h5").exists():
        (root / "text").write_bytes(bytes(tokens()))
        run(program, "tokenize", root / "text", "-o", root / "text.h5")
    text = f"""model: {model}
data: {{train: {root}/text.h5, sequence: {SEQUENCE}}}
batch: {{sequences: 2, micro: 1}}
precision: fp32
optim: {{lr: {OPTIM['lr']}, min_lr: {OPTIM['lr']}, warmup: 0, clip: 0,
         weight_decay: {OPTIM['weight_decay']}, eps: {OPTIM['eps']}}}
run: {{steps: {steps}, dir: {root}/{name}, log: {{every: 1}}}}
"""
    (root / f"{name}.yaml").write_text(text)
    said = run(program, "train", root / f"{name}.yaml", status=status)
    if status != 0:
        return said
    rows = [json.loads(line) for line in (root / name / "metrics.jsonl").read_text().splitlines()]
    return [row["loss"] for row in rows if "loss" in row]


def load_adapted(kind, base, folder):
    loaded = transformers.AutoModelForCausalLM.from_pretrained(base, torch_dtype=torch.float32)
    return peft.PeftModel.from_pretrained(loaded, folder, is_trainable=True)


def windows():
    text = torch.tensor(tokens())
    return torch.stack([text[:SEQUENCE + 1], text[SEQUENCE:]])


def train_there(model):
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, **OPTIM)
    rows, losses = windows(), []
    model.train()
    for _ in range(STEPS):
        logits = model(input_ids=rows[:, :-1]).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def logits(model):
    with torch.no_grad():
        return model.eval()(input_ids=windows()[:, :-1]).logits


def require_near(what, one, other, tolerance):
    one, other = torch.as_tensor(one), torch.as_tensor(other)
    off = ((one - other).abs().max() / other.abs().max()).item()
    if not off <= tolerance:
        raise Difference(f"{what}: {off:.2e} apart, at most {tolerance:.0e}")
    return off


def adapters(folder):
    return load_file(folder / "adapter_model.safetensors")


def hold_starts(program, root, model, losses, theirs):
    """A run that is interrupted goes on to the bit, and one begins with what PEFT has saved."""
    train(program, root, model, 2, "parts")
    parts = train(program, root, model, STEPS, "parts")
    if parts != losses:
        raise Difference(f"in two parts {parts}, at once {losses}")
    train(program, root, f"{{import: {root}/theirs}}", 0, "from-peft")
    run(program, "export", root / "from-peft", "-o", root / "back")
    back = adapters(root / "back")
    for name, tensor in theirs.items():
        if not torch.equal(back[name], tensor):
            raise Difference(f"{name} comes back as another")
    small = (root / "run" / "step-5" / "shard-0.h5").stat().st_size
    if small > 0.75 * (root / "base" / "model.safetensors").stat().st_size:
        raise Difference(f"a checkpoint has {small} bytes")


def hold_refusals(program, root, model, base):
    weights = base / "model.safetensors"
    kept = weights.read_bytes()
    changed = bytearray(kept)
    changed[-1] ^= 1
    words = ("generate", "--checkpoint", root / "run", "--prompt-ids", "100,101", "--tokens", 2)
    run(program, *words)
    for what, why in ((bytes(changed), "has changed: "), (None, "cannot be read")):
        weights.unlink()
        if what:
            weights.write_bytes(what)
        said = [run(program, *words, status=2), train(program, root, model, 9, "run", status=2),
                run(program, "export", root / "run", "--merged", "-o", root / "no", status=2)]
        for line in said:
            if why not in line and "model.safetensors" not in line:
                raise Difference(f"a base that is not what it was is not named: {line}")
    weights.write_bytes(kept)


def hold(program, root, kind, targets):
    base = root / "base"
    save_model(kind, base)
    model = f"{{import: {base}, lora: {{rank: 4, alpha: 12, targets: [{targets}]}}}}"
    before = {file.name: file.read_bytes() for file in base.iterdir()}
    train(program, root, model, 0, "new")
    run(program, "export", root / "new", "-o", root / "new-peft")
    ours = train(program, root, model, STEPS, "run")
    if len(ours) != STEPS:
        raise Difference(f"{len(ours)} losses")
    there = load_adapted(kind, base, root / "new-peft")
    theirs = train_there(there)
    of_losses = require_near("losses", ours, theirs, 1e-5)
    if not theirs[-1] < theirs[0]:
        raise Difference(f"nothing is learnt: {theirs}")
    run(program, "export", root / "run", "-o", root / "peft")
    there.save_pretrained(root / "theirs")
    mine, expected = adapters(root / "peft"), adapters(root / "theirs")
    if mine.keys() != expected.keys():
        raise Difference(f"names differ: {sorted(mine.keys() ^ expected.keys())[:4]}")
    of_adapters = max(require_near(name, mine[name], expected[name], 1e-3) for name in expected)
    run(program, "export", root / "run", "--merged", "-o", root / "merged")
    merged = transformers.AutoModelForCausalLM.from_pretrained(root / "merged",
                                                               torch_dtype=torch.float32)
    adapted = load_adapted(kind, base, root / "peft")
    of_logits = require_near("merged logits", logits(merged), logits(adapted), 1e-5)
    hold_starts(program, root, model, ours, expected)
    if before != {file.name: file.read_bytes() for file in base.iterdir()}:
        raise Difference("the base is not what it was")
    hold_refusals(program, root, model, base)
    return (f"losses {of_losses:.1e}, adapters {of_adapters:.1e}, "
            f"merged logits {of_logits:.1e} apart")


def main():
    program = shlex.split(sys.argv[1])
    failed = False
    for name, (kind, targets) in CASES.items():
        with tempfile.TemporaryDirectory() as root:
            try:
                print(f"{name}: {hold(program, Path(root), kind, targets)}", flush=True)
            except Difference as difference:
                print(f"{name}: FAILED: {difference}", flush=True)
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
