"""Models of transformers with parameters away from their start, their losses and gradients."""

import copy

import torch

from family_batches import logits_of
from training import parameters

VANISHING = 1e-10  # of the norm of all gradients: what is zero but for rounding


def standard_deviation(name):
    """T5 does not divide scores by the root of a head's size, and divides the head's input."""
    if name.endswith("Attention.q.weight"):
        return 0.08
    return 1.0 if name == "shared.weight" else 0.2


def make_model(case, generator):
    config = case.model.config_class(**case.config, use_cache=False, bos_token_id=None,
                                     eos_token_id=None, attn_implementation="eager")
    model = case.model(config).double()
    if case.target and case.config.get("tie_word_embeddings") is False:
        # transformers 5 ties T5's head whatever its arguments say, until a file brings both.
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    # Away from the usual start, where biases vanish and everything is nearly linear.
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_scale = ("norm" in name.lower() or ".ln_" in name) and name.endswith("weight")
            values = torch.randn(parameter.shape, generator=generator)
            values = is_scale + standard_deviation(name) * values
            parameter.copy_(values.to(torch.float32))
            if name.endswith("bias") and not case.biases:
                parameter.zero_().requires_grad_(False)
    return model.eval()


def loss_of_logits(logits, batch):
    logits, weights = logits.flatten(0, 1), batch["weights"].flatten()
    if logits.dtype == torch.bfloat16:
        logits = logits.to(torch.float32)
    losses = torch.nn.functional.cross_entropy(logits, batch["targets"].flatten(),
                                               reduction="none")
    return (losses * weights).sum() / weights.sum()


def weighted_mean_loss(model, batch):
    return loss_of_logits(logits_of(model, batch), batch)


def gradients(model, batch):
    """Of the weighted mean loss. The loss comes first."""
    model.zero_grad()
    loss = weighted_mean_loss(model, batch)
    loss.backward()
    return loss.item(), {name: parameter.grad.detach().clone().double()
                         for name, parameter in parameters(model)}


def converted(model, dtype):
    """The model as users run it: in this type, but for the frequencies of rotary positions."""
    fresh = copy.deepcopy(model).to(dtype)
    for module in fresh.modules():
        if hasattr(module, "inv_freq"):
            module.inv_freq = type(module)(fresh.config).inv_freq
    return fresh


def rounded_parameters(model, dtype):
    """In fp64 still, with parameters that `dtype` holds."""
    fresh = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in fresh.parameters():
            parameter.copy_(parameter.to(dtype))
    return fresh


def off_by(rounded, exact):
    """How far gradients are off, each relative to its exact norm or, where that vanishes, to the
    norm of all."""
    total = torch.stack([gradient.norm() for gradient in exact.values()]).norm()
    scales = {name: gradient.norm() if gradient.norm() > VANISHING * total else total
              for name, gradient in exact.items()}
    return {name: ((rounded[name] - gradient).norm() / scales[name]).item()
            for name, gradient in exact.items()}


def spread(model, dtype, batch, exact, autocast=False):
    """The loss, and how far PyTorch's own gradients are off: of the model in `dtype` or, with
    `autocast`, of the fp32 model whose products are computed in it."""
    own = converted(model, torch.float32 if autocast else dtype)
    with torch.autocast("cpu", dtype, enabled=autocast):
        loss, rounded = gradients(own, batch)
    return loss, off_by(rounded, exact)


def perturbed_losses(model, batch):
    """The loss with each parameter in turn scaled by 1.1."""
    result = {}
    with torch.no_grad():
        for name, parameter in parameters(model):
            kept = parameter.clone()
            parameter.mul_(1.1)
            result[name] = weighted_mean_loss(model, batch).item()
            parameter.copy_(kept)
    return result
