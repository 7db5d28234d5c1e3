"""What rounding may do to a result on any machine: fp64 with errors drawn after every operation."""

import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

UNITS = {torch.float32: 2.0**-24, torch.bfloat16: 2.0**-9}  # roundoffs: half of the last place
DRAWS = 16

# They hand numbers on, or make them, and round nothing.
EXACT = {"_to_copy", "_unsafe_view", "cat", "clone", "copy_", "detach", "embedding", "fill_",
         "full", "full_like", "gather", "index", "masked_fill", "neg", "new_zeros", "ones_like",
         "relu", "scalar_tensor", "slice_backward", "select_backward", "stack",
         "threshold_backward", "where", "zero_", "zeros", "zeros_like"}
PRODUCTS = {"addmm", "baddbmm", "bmm", "mm"}
# Linear in every operand: of magnitudes they give the sum of the magnitudes of all terms.
SUMS = PRODUCTS | {"embedding_dense_backward", "mean", "sum"}
# They add up along rows, among other things.
ROWS = {"_log_softmax", "_log_softmax_backward_data", "_softmax", "_softmax_backward_data",
        "native_layer_norm", "native_layer_norm_backward"}


def is_real(x):
    return isinstance(x, torch.Tensor) and x.is_floating_point()


def terms(name, operands):
    """How many numbers one sum has at most."""
    if name in PRODUCTS:
        return operands[-1].shape[-2]
    if name == "embedding_dense_backward":
        return operands[1].numel()
    return operands[0].shape[-1] if name in ROWS else operands[0].numel()


class RandomRounding(TorchDispatchMode):
    """A result is off by up to the roundoff of `dtype`. A sum of n terms, kept in fp32, is off by
    up to sqrt(n) roundoffs of the sum of their magnitudes besides: in whichever order they are
    added, it stays below that almost surely, and mostly far below (Higham and Mary, 2019)."""

    def __init__(self, dtype, seed):
        super().__init__()
        self.unit, self.generator = UNITS[dtype], torch.Generator().manual_seed(seed)

    def sum_errors(self, function, name, operands, options):
        if name not in SUMS:
            return 0
        magnitudes = tree_map(lambda x: x.abs() if is_real(x) else x, operands)
        return self.sum_unit(name, operands) * function(*magnitudes, **options)

    def sum_unit(self, name, operands):
        return UNITS[torch.float32] * math.sqrt(terms(name, operands))

    def __torch_dispatch__(self, function, types, operands=(), options=None):
        options = options or {}
        name = function._schema.name.removeprefix("aten::")
        if function.is_view or name in EXACT:
            return function(*operands, **options)
        sums = self.sum_errors(function, name, operands, options)
        results = function(*operands, **options)
        for result in filter(is_real, tree_leaves(results)):
            errors = self.unit * result.abs() + sums
            if name in ROWS:
                row = result.square().mean(-1, keepdim=True).sqrt()
                errors = errors + self.sum_unit(name, operands) * row
            errors = torch.where(result.abs() < 1e30, errors, 0)  # but masks stay finite
            draws = torch.rand(result.shape, generator=self.generator, dtype=torch.float64)
            result.add_(errors * (2 * draws - 1))
        return results


def worst_of_draws(dtype, deviations):
    """The worst of each of the numbers that `deviations()` returns, in a dictionary."""
    worst = {}
    for seed in range(DRAWS):
        for name, deviation in deviations(RandomRounding(dtype, seed)).items():
            worst[name] = torch.maximum(torch.as_tensor(deviation),
                                        worst.get(name, torch.zeros(())))
    return worst
