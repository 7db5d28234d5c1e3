"""Goldens of all families by PyTorch and transformers: NAME.txt and NAME.bin for every case.

    python3 tests/goldens/make_family_goldens.py [NAME ...]
"""

import copy
import pathlib
import sys

import numpy as np
import torch

from double_precision import RefuseFloat32, doubles
from family_batches import logits_of, make_batches
from family_cases import CASES
from family_checks import check_buckets, check_documents, check_spread
from family_keys import model_keys
from family_models import gradients, make_model, perturbed_losses, spread, weighted_mean_loss
from golden_file import write
from training import BATCHES, SETTINGS, STEPS, parameters, train


def reference(model, batches, position):
    """All that is computed in fp64, by the golden's names; and the exact gradients."""
    with doubles(), RefuseFloat32():
        with torch.no_grad():
            check_documents(model, batches)
            logits = logits_of(model, batches[0])[0, position]
        exact = gradients(model, batches[0])[1]
        perturbed = perturbed_losses(model, batches[0])
    trained = copy.deepcopy(model)
    with doubles():  # torch.optim counts its steps in fp32, exactly
        losses, norms = train(trained, lambda i: weighted_mean_loss(trained, batches[i]))
    tensors = {f"parameter/{name}": parameter.detach().to(torch.float32)
               for name, parameter in parameters(model)}
    tensors |= {f"gradient/{name}": exact[name].to(torch.float32) for name in exact}
    tensors |= {"logits": logits.to(torch.float32), "losses": losses, "norms": norms}
    return tensors | {f"perturbed_loss/{name}": perturbed[name] for name in perturbed}, exact


def batch_tensors(batches):
    """[batches, micro x sequence], as our batches have them."""
    joined = {name: torch.stack([batch[name].flatten() for batch in batches])
              for name in batches[0]}
    return {name: values.to(torch.float32 if name == "weights" else torch.int32)
            for name, values in joined.items()}


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

    tensors, exact = reference(model, batches, case.position)
    fp32 = spread(model, torch.float32, batches[0], exact)[1]
    bf16_loss, bf16 = spread(model, torch.bfloat16, batches[0], exact)
    check_spread(fp32, bf16)
    tensors = batch_tensors(batches) | tensors | {"bf16_loss": bf16_loss}
    tensors |= {f"bf16_spread/{name}": value for name, value in bf16.items()}
    write(folder / case.name, {name: np.asarray(value) for name, value in tensors.items()},
          settings_of(case, model))

    loss = tensors["losses"][0]
    moved = [abs(tensors[f"perturbed_loss/{name}"] - loss) for name in exact]
    print(f"{case.name:20} loss {loss:.6f} to {tensors['losses'][-1]:.4f}  "
          f"gradients off in fp32 {max(fp32.values()):.1e}, in bf16 {max(bf16.values()):.1e}  "
          f"bf16 loss off {abs(bf16_loss - loss):.1e}  "
          f"10 % of a parameter moves the loss by more than 1e-3: "
          f"{sum(m > 1e-3 for m in moved)} of {len(moved)}")


def main():
    unknown = set(sys.argv[1:]) - {case.name for case in CASES}
    assert not unknown, f"no such case: {unknown}"
    torch.set_num_threads(1)  # so that the files come out the same to the bit
    for seed, case in enumerate(CASES, start=1):
        if len(sys.argv) == 1 or case.name in sys.argv[1:]:
            make_golden(case, pathlib.Path(__file__).parent, seed)


if __name__ == "__main__":
    main()
