"""All that a golden says of a model and its batches, by the golden's names."""

import copy

import numpy as np
import torch

from double_precision import RefuseFloat32, doubles
from family_batches import logits_of
from family_checks import check_documents, check_spread
from family_models import (converted, gradients, loss_of_logits, off_by, perturbed_losses,
                           rounded_parameters, spread, weighted_mean_loss)
from random_rounding import worst_of_draws
from training import parameters, train


def train_copy(model, batches):
    fresh = copy.deepcopy(model)
    return train(fresh, lambda i: weighted_mean_loss(fresh, batches[i]))


def reference(model, batches, position):
    """What is computed in fp64, and the exact gradients."""
    with doubles(), RefuseFloat32():
        with torch.no_grad():
            check_documents(model, batches)
            logits = logits_of(model, batches[0])[0, position]
        exact = gradients(model, batches[0])[1]
        perturbed = perturbed_losses(model, batches[0])
    with doubles():  # torch.optim counts its steps in fp32, exactly
        losses, norms = train_copy(model, batches)
    tensors = {f"parameter/{name}": parameter.detach().to(torch.float32)
               for name, parameter in parameters(model)}
    tensors |= {f"gradient/{name}": exact[name].to(torch.float32) for name in exact}
    tensors |= {"logits": logits.to(torch.float32), "losses": losses, "norms": norms}
    return tensors | {f"perturbed_loss/{name}": perturbed[name] for name in perturbed}, exact


def rounding(model, batches, position, tensors, exact):
    """How far rounding alone may move each of them, on any machine (random_rounding.py)."""
    losses, norms = torch.tensor(tensors["losses"]), torch.tensor(tensors["norms"])

    def worst_gradient(model):
        return max(off_by(gradients(model, batches[0])[1], exact).values())

    def in_fp32(rounded):
        with doubles(), rounded:
            logits = logits_of(model, batches[0])[0, position].detach()
            perturbed = perturbed_losses(model, batches[0])
            gradient = worst_gradient(model)
            steps = [torch.tensor(values) for values in train_copy(model, batches)]
        off = ((logits - tensors["logits"]).abs() / tensors["logits"].abs().clamp(min=1)).max()
        return dict(gradients=gradient, logits=off, losses=(steps[0] - losses).abs(),
                    norms=(steps[1] - norms).abs(),
                    perturbed_loss=max(abs(perturbed[name] - tensors[f"perturbed_loss/{name}"])
                                       for name in perturbed))

    def in_bf16(rounded):
        with doubles(), rounded:
            logits = logits_of(bf16_model, batches[0])
            gradient = worst_gradient(bf16_model)
        loss = loss_of_logits(logits, batches[0]).detach()  # logits are rounded, the loss is not
        return dict(bf16_loss=abs(loss - losses[0]), bf16_gradients=gradient)

    bf16_model = rounded_parameters(model, torch.bfloat16)
    worst = (worst_of_draws(torch.float32, in_fp32) | worst_of_draws(torch.bfloat16, in_bf16))
    # What has gone another way once does not come back for certain.
    worst |= {name: worst[name].cummax(0).values for name in ("losses", "norms")}
    return {f"rounding/{name}": value.to(torch.float64) for name, value in worst.items()}


def batch_tensors(batches):
    """[batches, micro x sequence], as our batches have them."""
    joined = {name: torch.stack([batch[name].flatten() for batch in batches])
              for name in batches[0]}
    return {name: values.to(torch.float32 if name == "weights" else torch.int32)
            for name, values in joined.items()}


def as_arrays(tensors):
    return {name: np.asarray(value) for name, value in tensors.items()}


def golden_tensors(model, batches, position):
    """Also returns a line that tells of them."""
    tensors, exact = reference(model, batches, position)
    fp32 = spread(model, torch.float32, batches[0], exact)[1]
    bf16_loss, bf16 = spread(model, torch.bfloat16, batches[0], exact)
    autocast = spread(model, torch.bfloat16, batches[0], exact, autocast=True)[1]
    drawn = rounding(model, batches, position, tensors, exact)
    tensors = batch_tensors(batches) | tensors | {"bf16_loss": bf16_loss} | drawn
    tensors |= {f"bf16_spread/{name}": value for name, value in bf16.items()}
    tensors |= {f"autocast_spread/{name}": value for name, value in autocast.items()}
    tensors = as_arrays(tensors)
    own_steps = train_copy(converted(model, torch.float32), batches)
    check_spread(tensors, max(fp32.values()), max(bf16.values()), own_steps)

    losses = tensors["losses"]
    moved = [abs(tensors[f"perturbed_loss/{name}"] - losses[0]) for name in exact]
    return tensors, (
        f"loss {losses[0]:.6f} to {losses[-1]:.4f}  gradients off in fp32 {max(fp32.values()):.1e},"
        f" in bf16 {max(bf16.values()):.1e}, by autocast {max(autocast.values()):.1e}"
        f"  bf16 loss off {abs(bf16_loss - losses[0]):.1e}  rounding: " +
        ", ".join(f"{name.removeprefix('rounding/')} {tensors[name].max():.1e}" for name in drawn) +
        f"  10 % of a parameter moves the loss by more than 1e-3: "
        f"{sum(m > 1e-3 for m in moved)} of {len(moved)}")
