"""Goldens of all families by PyTorch and transformers: NAME.txt and NAME.bin for every case.

    python3 tests/goldens/make_family_goldens.py [NAME ...]
"""

import pathlib
import sys

import torch

from double_precision import doubles
from family_batches import make_batches
from family_cases import CASES
from family_checks import check_buckets
from family_keys import model_keys
from family_models import make_model
from family_tensors import golden_tensors
from golden_file import write
from training import BATCHES, SETTINGS, STEPS


def settings_of(case, model):
    target = dict(target=case.target) if case.target else {}
    return dict(**model_keys(model), sequence=case.sequence, **target, micro=len(case.documents),
                steps=STEPS, batches=BATCHES, position=case.position, **SETTINGS)


def make_golden(case, folder, seed):
    generator = torch.Generator().manual_seed(seed)
    with doubles():
        model = make_model(case, generator)
    batches = make_batches(case, model.config.vocab_size, generator)
    if case.target:
        check_buckets(model.config)

    tensors, told = golden_tensors(model, batches, case.position)
    write(folder / case.name, tensors, settings_of(case, model))
    print(f"{case.name:20} {told}")


def main():
    unknown = set(sys.argv[1:]) - {case.name for case in CASES}
    assert not unknown, f"no such case: {unknown}"
    torch.set_num_threads(1)  # so that the files come out the same to the bit
    for seed, case in enumerate(CASES, start=1):
        if len(sys.argv) == 1 or case.name in sys.argv[1:]:
            make_golden(case, pathlib.Path(__file__).parent, seed)


if __name__ == "__main__":
    main()
