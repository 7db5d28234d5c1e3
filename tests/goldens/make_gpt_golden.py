"""A small GPT-2's loss, gradients, logits and ten AdamW steps by PyTorch: gpt.txt, gpt.bin."""

import pathlib

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from golden_file import write
from training import BATCHES, SETTINGS, STEPS, train

LAYERS, HIDDEN, HEADS, VOCAB, SEQUENCE, MICRO = 2, 32, 2, 61, 16, 2
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
    losses, norms = train(
        model, lambda i: weighted_mean_loss(model, tokens[i], targets[i], weights[i]))
    tensors["losses"], tensors["norms"] = np.array(losses), np.array(norms)

    settings = dict(layers=LAYERS, hidden=HIDDEN, heads=HEADS, vocab=VOCAB, sequence=SEQUENCE,
                    micro=MICRO, steps=STEPS, batches=BATCHES, position=POSITION, **SETTINGS)
    write(pathlib.Path(__file__).with_name("gpt"), tensors, settings)


if __name__ == "__main__":
    main()
