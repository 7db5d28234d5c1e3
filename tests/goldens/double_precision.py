"""Runs models of transformers in fp64 throughout, where their code asks for fp32."""

import contextlib
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class DoubleTorch:
    """Stands for the module `torch` in transformers' sources: what is called fp32 there is fp64."""

    float32 = float = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


class RefuseFloat32(TorchDispatchMode):
    """Proves it: no operation has a result of fewer bits."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        results = function(*args, **(kwargs or {}))
        for leaf in tree_leaves(results):
            if isinstance(leaf, torch.Tensor) and leaf.is_floating_point():
                assert leaf.dtype == torch.float64, f"{function} gives {leaf.dtype}"
        return results


@contextlib.contextmanager
def doubles():
    """Models are made here too: the frequencies of rotary positions are computed when they are."""
    modules = [module for name, module in sys.modules.items()
               if name.startswith("transformers.") and getattr(module, "torch", None) is torch
               and name.rpartition(".")[2].startswith("modeling_")]
    as_float = torch.Tensor.float
    for module in modules:
        module.torch = DoubleTorch()
    torch.Tensor.float = torch.Tensor.double
    try:
        yield
    finally:
        torch.Tensor.float = as_float
        for module in modules:
            module.torch = torch
