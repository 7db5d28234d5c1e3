"""Writes decay_groups.txt: which parameters of the goldens' models the Trainer of transformers
decays, a line each, `<golden> <Hugging Face name>`."""

import pathlib

import torch
import transformers

from family_cases import CASES, GPT2, Case, whole
from family_models import make_model
from training import parameters


def decayed(model):
    names = set(transformers.Trainer.get_decay_parameter_names(None, model))
    return [name for name, _ in parameters(model) if name in names]


def main():
    gpt = Case("gpt", transformers.GPT2LMHeadModel, GPT2, 16, whole(16))
    lines = [f"{case.name} {name}" for case in [gpt, *CASES]
             for name in decayed(make_model(case, torch.Generator().manual_seed(1)))]
    path = pathlib.Path(__file__).with_name("decay_groups.txt")
    path.write_text("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main()
