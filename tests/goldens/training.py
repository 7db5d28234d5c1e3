"""Ten AdamW steps, as every golden has them."""

import torch

STEPS, BATCHES = 10, 2  # batches take turns
SETTINGS = dict(lr=1e-2, beta1=0.9, beta2=0.95, eps=1e-4, weight_decay=0.1, clip=2.0)


def parameters(model):
    """Names and parameters, but not what a case has frozen because our model lacks it."""
    return [(name, parameter) for name, parameter in model.named_parameters()
            if parameter.requires_grad]


def decayed(model):
    """The names that decay: matrices, but no embeddings. Norms and biases are vectors."""
    embeddings = {id(module.weight) for module in model.modules()
                  if isinstance(module, torch.nn.Embedding)}
    return {name for name, parameter in parameters(model)
            if parameter.dim() == 2 and id(parameter) not in embeddings}


def train(model, loss_of_batch):
    """Changes the model. Returns losses before the steps, and norms before clipping."""
    named, decays = parameters(model), decayed(model)
    optimizer = torch.optim.AdamW(
        [{"params": [p for n, p in named if n in decays],
          "weight_decay": SETTINGS["weight_decay"]},
         {"params": [p for n, p in named if n not in decays], "weight_decay": 0.0}],
        lr=SETTINGS["lr"], betas=(SETTINGS["beta1"], SETTINGS["beta2"]), eps=SETTINGS["eps"])
    losses, norms = [], []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of_batch(step % BATCHES)
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), SETTINGS["clip"]).item())
        optimizer.step()
        losses.append(loss.item())
    return losses, norms
