"""A small GPT-2's loss, gradients, logits and ten AdamW steps by PyTorch: gpt.txt, gpt.bin."""

import pathlib

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

LAYERS, HIDDEN, HEADS, VOCAB, SEQUENCE, MICRO = 2, 32, 2, 61, 16, 2
STEPS, BATCHES = 10, 2  # batches take turns
SETTINGS = dict(lr=1e-2, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1, clip=2.0)
POSITION = 9  # the row of the first sequence whose logits are kept


def make_model(generator):
    config = GPT2Config(
        n_layer=LAYERS, n_embd=HIDDEN, n_head=HEADS, vocab_size=VOCAB, n_positions=SEQUENCE,
        activation_function="gelu_new", layer_norm_epsilon=1e-5, resid_pdrop=0, embd_pdrop=0,
        attn_pdrop=0, bos_token_id=None, eos_token_id=None, attn_implementation="eager")
    model = GPT2LMHeadModel(config)
    # Away from the usual start, where biases vanish and everything is nearly linear.
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            mean = 1.0 if ".ln_" in name and name.endswith("weight") else 0.0
            values = mean + 0.2 * torch.randn(parameter.shape, generator=generator)
            parameter.copy_(values.float())
    return model.double()


def weighted_mean_loss(model, tokens, targets, weights):
    logits = model(tokens.view(MICRO, SEQUENCE)).logits.view(-1, VOCAB)
    losses = torch.nn.functional.cross_entropy(logits, targets, reduction="none")
    return (losses * weights).sum() / weights.sum()


def decays(name, parameter):
    return parameter.dim() == 2 and "wte" not in name and "wpe" not in name


def train(model, tokens, targets, weights):
    named = list(model.named_parameters())
    decayed = [p for n, p in named if decays(n, p)]
    others = [p for n, p in named if not decays(n, p)]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": SETTINGS["weight_decay"]},
         {"params": others, "weight_decay": 0.0}],
        lr=SETTINGS["lr"], betas=(SETTINGS["beta1"], SETTINGS["beta2"]), eps=SETTINGS["eps"])
    losses, norms = [], []
    for step in range(STEPS):
        optimizer.zero_grad()
        batch = step % BATCHES
        loss = weighted_mean_loss(model, tokens[batch], targets[batch], weights[batch])
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), SETTINGS["clip"]).item())
        optimizer.step()
        losses.append(loss.item())
    return losses, norms


def write(stem, tensors, settings):
    lines, offset = [], 0
    with open(stem.with_suffix(".bin"), "wb") as file:
        for name, array in tensors.items():
            kind = {"float32": "f32", "float64": "f64", "int32": "i32"}[str(array.dtype)]
            file.write(np.ascontiguousarray(array).tobytes())
            lines.append(f"tensor {name} {kind} {offset} {' '.join(map(str, array.shape))}")
            offset += array.nbytes
    lines += [f"setting {name} {value!r}" for name, value in settings.items()]
    stem.with_suffix(".txt").write_text("\n".join(lines) + "\n")


def main():
    generator = torch.Generator().manual_seed(1)
    model = make_model(generator)
    rows = MICRO * SEQUENCE
    tokens = torch.randint(VOCAB, (BATCHES, rows), generator=generator)
    targets = torch.randint(VOCAB, (BATCHES, rows), generator=generator)
    weights = (torch.rand((BATCHES, rows), generator=generator) > 0.2).double()

    tensors = {"tokens": tokens.numpy().astype(np.int32),
               "targets": targets.numpy().astype(np.int32),
               "weights": weights.numpy().astype(np.float32)}
    for name, parameter in model.named_parameters():
        tensors[f"parameter/{name}"] = parameter.detach().numpy().astype(np.float32)
    weighted_mean_loss(model, tokens[0], targets[0], weights[0]).backward()
    for name, parameter in model.named_parameters():
        tensors[f"gradient/{name}"] = parameter.grad.numpy().astype(np.float32)
    with torch.no_grad():
        logits = model(tokens[0].view(MICRO, SEQUENCE)).logits[0, POSITION]
    tensors["logits"] = logits.numpy().astype(np.float32)
    losses, norms = train(model, tokens, targets, weights)
    tensors["losses"], tensors["norms"] = np.array(losses), np.array(norms)

    settings = dict(layers=LAYERS, hidden=HIDDEN, heads=HEADS, vocab=VOCAB, sequence=SEQUENCE,
                    micro=MICRO, steps=STEPS, batches=BATCHES, position=POSITION, **SETTINGS)
    write(pathlib.Path(__file__).with_name("gpt"), tensors, settings)


if __name__ == "__main__":
    main()
