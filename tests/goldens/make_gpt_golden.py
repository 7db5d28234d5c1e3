"""A small GPT-2's loss, gradients, logits and ten AdamW steps by PyTorch: gpt.txt, gpt.bin."""

import pathlib

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from family_tensors import golden_tensors
from golden_file import write
from training import BATCHES, SETTINGS, STEPS

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
    return model.double().eval()


def make_batches(generator):
    shape = (BATCHES, MICRO, SEQUENCE)
    tokens = torch.randint(VOCAB, shape, generator=generator)
    targets = torch.randint(VOCAB, shape, generator=generator)
    weights = (torch.rand(shape, generator=generator) > 0.2).double()
    documents = torch.zeros(shape[1:], dtype=torch.int64)
    positions = torch.arange(SEQUENCE).expand(shape[1:])
    return [dict(tokens=tokens[i], documents=documents, positions=positions, targets=targets[i],
                 weights=weights[i]) for i in range(BATCHES)]


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(1)
    model = make_model(generator)
    tensors, told = golden_tensors(model, make_batches(generator), POSITION)
    del tensors["documents"], tensors["positions"]  # as `pack: false`
    settings = dict(layers=LAYERS, hidden=HIDDEN, heads=HEADS, vocab=VOCAB, sequence=SEQUENCE,
                    micro=MICRO, steps=STEPS, batches=BATCHES, position=POSITION, **SETTINGS)
    write(pathlib.Path(__file__).with_name("gpt"), tensors, settings)
    print(f"{'gpt':20} {told}")


if __name__ == "__main__":
    main()
