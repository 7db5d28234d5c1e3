"""What must hold of a golden before it is written."""

import numpy as np
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from double_precision import doubles
from family_batches import logits_alone, logits_of


def check_documents(model, batches):
    """Each document alone, masked by transformers itself, has the logits that it has in its row."""
    for batch in batches:
        together = logits_of(model, batch)
        numbers = batch.get("documents/1", batch.get("documents"))
        for sequence, documents in enumerate(numbers):
            for document in range(int(documents.max()) + 1):
                alone, inside = logits_alone(model, batch, sequence, document)
                torch.testing.assert_close(alone, together[sequence][inside], rtol=0, atol=1e-12)


def buckets(config, bidirectional):
    return T5Attention._relative_position_bucket(
        torch.arange(-64, 65), bidirectional, config.relative_attention_num_buckets,
        config.relative_attention_max_distance)


def check_buckets(config):
    """T5's buckets of distances are the same ones in fp32 as in fp64."""
    for bidirectional in (False, True):
        rounded = buckets(config, bidirectional)
        with doubles():
            assert torch.equal(rounded, buckets(config, bidirectional)), "choose other buckets"


def check_spread(golden, fp32, bf16, fp32_steps):
    """What rounding is said to do holds PyTorch's own fp32 model, and not its bf16 model."""
    bound = golden["rounding/gradients"]
    assert fp32 < bound and 100 * bound < bf16, (fp32, bound, bf16)
    for name, own in zip(("losses", "norms"), fp32_steps):
        np.testing.assert_array_less(abs(own - golden[name]), golden[f"rounding/{name}"])
