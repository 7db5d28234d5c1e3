#!/usr/bin/env python3
"""quantized.py PROGRAM QUANTIZE_MATRIX: what model.quantize makes is what bitsandbytes makes.

PROGRAM is spillway, or a command that ends with it; QUANTIZE_MATRIX quantizes a matrix by the same
functions. Bytes and the values that they stand for are held against bitsandbytes' quantize_4bit
(nf4, with quantized scales), dequantize_4bit and int8_vectorwise_quant, to the bit; losses of small
models with adapters against those of PEFT beside weights that bitsandbytes has dequantized. One
line each; exits 1 where anything differs, 77 where one of these is not installed.
"""
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import lora  # exits where torch, transformers or peft are missing
from lora import Difference, require_near

try:
    import numpy
    import torch
    import transformers
    from bitsandbytes import functional
    from safetensors.torch import load_file
except ImportError as missing:
    print(f"quantized: {missing}: not tested")
    sys.exit(77)

BLOCK, GROUP = 64, 256
SHAPES = [(1, 1), (3, 5), (33, 5), (48, 80), (64, 256), (97, 131), (40, 520), (512, 777),
          (128, 2048)]


def in_parts(values, size):
    return [values[first:first + size] for first in range(0, len(values), size)]


def scale_state(tops, like):
    """Quantizes scales as bitsandbytes does beside a CPU's own code, which rounds some otherwise.

    The mean is the nearest float to that of all; bitsandbytes' own may be a rounding off.
    """
    mean = tops.double().mean().float()
    code = functional.create_dynamic_map()
    bounds = (code[:-1] + code[1:]) / 2
    codes, groups = [], []
    for part in in_parts(tops - mean, GROUP):
        top = part.abs().max()
        least = top.clamp(min=1e-38)
        shares = part * (1 / least) if len(part) == GROUP else part / least
        codes.append(torch.bucketize(shares.clamp(-1, 1), bounds).to(torch.uint8))
        groups.append(top)
    return functional.QuantState(
        absmax=torch.cat(codes), shape=like.shape, dtype=like.dtype, blocksize=BLOCK,
        code=functional.get_4bit_type("nf4", device="cpu"), quant_type="nf4", offset=mean,
        state2=functional.QuantState(absmax=torch.stack(groups), code=code, blocksize=GROUP,
                                     dtype=torch.float32))


def quantize_nf4(weights):
    codes, state = functional.quantize_4bit(weights, quant_type="nf4", blocksize=BLOCK)
    return codes, scale_state(state.absmax, weights)


def values_of(codes, state):
    """In one row: bitsandbytes' code for CPUs takes each row of a matrix to begin with a block."""
    shape, state.shape = state.shape, torch.Size((1, state.shape.numel()))
    values = functional.dequantize_4bit(codes, state)
    state.shape = shape
    return values.view(shape)


def quantize_int8(weights):
    codes, tops, _ = torch.ops.bitsandbytes.int8_vectorwise_quant(weights.clone(), 0.0)
    return codes, tops


def dequantized(form, weights):
    if form == "nf4":
        return values_of(*quantize_nf4(weights))
    return torch.ops.bitsandbytes.int8_vectorwise_dequant(*quantize_int8(weights))


def require_equal(what, ours, theirs):
    ours, theirs = torch.as_tensor(ours).flatten(), theirs.flatten()
    if ours.shape != theirs.shape or not torch.equal(ours, theirs):
        many = (ours != theirs).sum().item() if ours.shape == theirs.shape else "all"
        raise Difference(f"{what}: {many} of {len(theirs)} differ")


def ours(quantize, form, weights):
    rows, columns = weights.shape
    done = subprocess.run([quantize, form, str(rows), str(columns)], check=True,
                          input=weights.numpy().tobytes(), stdout=subprocess.PIPE)
    size = len(done.stdout) - 4 * weights.numel()
    data = numpy.frombuffer(done.stdout[:size], dtype=numpy.uint8).copy()
    values = torch.from_numpy(numpy.frombuffer(done.stdout[size:], dtype=numpy.float32).copy())
    return data, values.view(rows, columns)


def hold_nf4(quantize, weights):
    data, values = ours(quantize, "nf4", weights)
    codes, state = quantize_nf4(weights)
    blocks, at = len(state.absmax), len(codes)
    require_equal("codes", torch.from_numpy(data[:at]), codes)
    require_equal("scales", torch.from_numpy(data[at:at + blocks]), state.absmax)
    at += blocks + -(at + blocks) % 4
    floats = torch.from_numpy(data[at:].view(numpy.float32))
    groups = len(state.state2.absmax)
    require_equal("scales of scales", floats[:groups], state.state2.absmax)
    require_equal("mean", floats[groups:groups + 1], state.offset)
    require_equal("values of 8 bits", floats[groups + 1:groups + 257], state.state2.code)
    require_equal("values of 4 bits", floats[groups + 257:], state.code)
    require_equal("values", values, values_of(codes, state))
    state.dtype = torch.bfloat16
    require_equal("values in bf16", values.to(torch.bfloat16), values_of(codes, state))
    _, plain = functional.quantize_4bit(weights, quant_type="nf4", compress_statistics=True)
    off = (plain.absmax.int() - state.absmax.int()).abs()
    if blocks > 1 and off.max() > 1:
        raise Difference(f"scales: {off.max()} from those of a CPU's own code")
    require_near("mean", state.offset, plain.offset, 1e-6)


def hold_int8(quantize, weights):
    data, values = ours(quantize, "int8", weights)
    codes, tops = quantize_int8(weights)
    require_equal("codes", torch.from_numpy(data[:weights.numel()].view(numpy.int8)), codes)
    require_equal("scales", torch.from_numpy(data[-4 * len(tops):].view(numpy.float32)), tops)
    require_equal("values", values, dequantized("int8", weights))


def hold_bits(quantize):
    torch.manual_seed(1)
    for shape in SHAPES:
        for weights in (torch.randn(shape), torch.randn(shape).bfloat16().float(),
                        torch.randn(shape) * torch.rand(shape[0], 1) ** 4):
            hold_nf4(quantize, weights)
            hold_int8(quantize, weights)
    return f"{3 * len(SHAPES)} matrices"


def is_quantized(module):
    return isinstance(module, (torch.nn.Linear, transformers.pytorch_utils.Conv1D))


def dequantize_layers(form, model):
    """Gives layers' matrices the values that bitsandbytes makes of them, row by row of outputs."""
    layers = model.model.layers if hasattr(model, "model") else model.transformer.h
    with torch.no_grad():
        for module in layers.modules():
            if not is_quantized(module):
                continue
            turned = isinstance(module, transformers.pytorch_utils.Conv1D)
            weights = module.weight.T.contiguous() if turned else module.weight.detach().clone()
            values = dequantized(form, weights)
            module.weight.copy_(values.T if turned else values)


def hold_training(program, root, form, kind, targets):
    base, quantized = root / "base", root / "quantized"
    dequantized_model = lora.save_model(kind, base)
    dequantize_layers(form, dequantized_model)
    dequantized_model.save_pretrained(quantized)
    keys = f"lora: {{rank: 4, alpha: 12, targets: [{targets}]}}"
    model = f"{{import: {base}, quantize: {form}, {keys}}}"
    lora.train(program, root, model, 0, "new")
    lora.run(program, "export", root / "new", "-o", root / "new-peft")
    ours = lora.train(program, root, model, lora.STEPS, "run")
    theirs = lora.train_there(lora.load_adapted(kind, quantized, root / "new-peft"))
    of_losses = require_near("losses", ours, theirs, 1e-5)
    there = lora.train(program, root, f"{{import: {quantized}, {keys}}}", lora.STEPS, "there")
    if ours != there:
        raise Difference(f"quantized {ours}, with the values that bytes stand for {there}")
    plain = lora.train(program, root, f"{{import: {base}, {keys}}}", lora.STEPS, "plain")
    if ours[0] == plain[0]:
        raise Difference("nothing is quantized")
    lora.train(program, root, model, 2, "parts")
    if lora.train(program, root, model, lora.STEPS, "parts") != ours:
        raise Difference("in two parts it has other losses")
    hold_merged(program, root, base)
    return f"losses {of_losses:.1e} apart, {abs(ours[0] - plain[0]):.1e} from those of the base"


def hold_merged(program, root, base):
    """What is merged is the base as it lies there, and the adapters."""
    lora.run(program, "export", root / "run", "--merged", "-o", root / "merged")
    before, after = load_file(base / "model.safetensors"), load_file(
        root / "merged" / "model.safetensors")
    same = [name for name in before if torch.equal(before[name], after[name])]
    if not any("mlp" in name for name in same) or len(same) == len(before):
        raise Difference("what is merged is not the base with adapters")


def hold_refusals(program, root, form):
    drawn = "{family: llama, layers: 1, hidden: 32, heads: 2, vocab: 288, lora: {rank: 2}, "
    said = lora.train(program, root, drawn + f"quantize: {form}}}", 1, "drawn", status=2)
    if "model.quantize: frozen weights must stay where the run finds them" not in said:
        raise Difference(f"a run that draws its weights: {said}")
    other = "int8" if form == "nf4" else "nf4"
    model = f"{{import: {root}/base, quantize: {other}, lora: {{rank: 4, alpha: 12}}}}"
    said = lora.train(program, root, model, 9, "run", status=2)
    if "model.quantize: is" not in said:
        raise Difference(f"a run that goes on with other bits: {said}")


def main():
    program, quantize = shlex.split(sys.argv[1]), sys.argv[2]
    failed = False
    cases = [(f"{form}-{kind}", form, kind, targets) for form in ("nf4", "int8")
             for kind, targets in (("llama", "q_proj,v_proj"), ("gpt2", "qkv"))]
    with tempfile.TemporaryDirectory() as root:
        for name, hold in [("bits", lambda _: hold_bits(quantize))] + [
                (name, lambda path, case=case: hold_training(program, path, *case))
                for name, *case in cases]:
            try:
                path = Path(root) / name
                path.mkdir()
                print(f"{name}: {hold(path)}", flush=True)
                if name.endswith("llama"):
                    hold_refusals(program, path, name.split("-")[0])
            except Difference as difference:
                print(f"{name}: FAILED: {difference}", flush=True)
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
