#!/usr/bin/env python3
"""One GPT-2-shaped model trained by DeepSpeed on processors, its optimizer state on NVMe.

    python tests/bench/deepspeed_nvme.py --nvme DIR [--layers 48 --hidden 1600 --heads 25]
        [--sequences 2 --sequence 512] [--sub-group-size 10000000] [--checkpointing]

Needs torch, deepspeed, transformers, ninja, a compiler and libaio's headers; installs nothing.
Measured is a whole step: forward, backward, clipping at 1.0, AdamW. One JSON line a step (loss,
step_s, tokens_per_s), then one with peak_rss_bytes (VmHWM) and what is below DIR (nvme_bytes).

ZeRO stage 3 of one rank: the only stage that puts optimizer state on NVMe. Parameters and gradients
are bf16 in memory. Fixed by what is known to fail: parameters are never offloaded, as with
checkpointing they train wrongly; --sub-group-size is the number of parameters that are updated
together, and its default of 10^9 does not fit: each of --buffers holds as many in fp32.
`--offload none` is the same without NVMe, whose losses must be the same.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import tempfile
import time

os.environ["DS_ACCELERATOR"] = "cpu"


def ds_config(args, folder):
    zero = {"stage": 3, "sub_group_size": args.sub_group_size, "contiguous_gradients": True,
            "overlap_comm": False, "reduce_bucket_size": 20_000_000,
            "stage3_prefetch_bucket_size": 0, "stage3_param_persistence_threshold": 10**12,
            "stage3_model_persistence_threshold": 10**12}
    if args.offload != "none":
        zero["offload_optimizer"] = {"device": args.offload, "pin_memory": False}
    if args.offload == "nvme":
        zero["offload_optimizer"] |= {"nvme_path": str(folder), "buffer_count": args.buffers,
                                      "pipeline_read": args.pipeline,
                                      "pipeline_write": args.pipeline}
    return {"train_micro_batch_size_per_gpu": args.sequences, "gradient_accumulation_steps": 1,
            "gradient_clipping": 1.0, "bf16": {"enabled": True}, "zero_optimization": zero,
            "aio": {"block_size": 1 << 20, "queue_depth": 32, "intra_op_parallelism": 1,
                    "single_submit": False, "overlap_events": True},
            "steps_per_print": 10**9, "wall_clock_breakdown": False}


def make_model(args):
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(args.seed)
    torch.set_default_dtype(torch.bfloat16)  # never a copy in fp32
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=args.vocab, n_positions=args.sequence, n_embd=args.hidden, n_layer=args.layers,
        n_head=args.heads, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, use_cache=False))
    torch.set_default_dtype(torch.float32)
    if args.checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    return model.train()


def make_engine(args, folder):
    import deepspeed
    from deepspeed.ops.adam import DeepSpeedCPUAdam

    deepspeed.init_distributed("gloo", auto_mpi_discovery=False, verbose=False, rank=0,
                               world_size=1)
    model = make_model(args)
    optimizer = DeepSpeedCPUAdam(model.parameters(), lr=args.lr, betas=(0.9, 0.95), eps=1e-8,
                                 weight_decay=0.1, adamw_mode=True)
    return deepspeed.initialize(model=model, optimizer=optimizer, config=ds_config(args, folder))[0]


def peak_rss_bytes():
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return 0


def train(args, folder):
    import torch

    engine = make_engine(args, folder)
    tokens = torch.randint(0, args.vocab, (args.sequences, args.sequence))
    for step in range(args.steps):
        start = time.perf_counter()
        loss = engine(input_ids=tokens, labels=tokens).loss
        engine.backward(loss)
        engine.step()
        seconds = time.perf_counter() - start
        print(json.dumps({"step": step + 1, "loss": loss.item(), "step_s": seconds,
                          "tokens_per_s": tokens.numel() / seconds}), flush=True)
    stored = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    print(json.dumps({"peak_rss_bytes": peak_rss_bytes(), "nvme_bytes": stored}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nvme", default=".", help="directory for the optimizer state")
    parser.add_argument("--offload", default="nvme", choices=["nvme", "cpu", "none"])
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--hidden", type=int, default=1600)
    parser.add_argument("--heads", type=int, default=25)
    parser.add_argument("--vocab", type=int, default=50257)
    parser.add_argument("--sequences", type=int, default=2)
    parser.add_argument("--sequence", type=int, default=512)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--sub-group-size", type=int, default=10_000_000)
    parser.add_argument("--buffers", type=int, default=12)
    parser.add_argument("--pipeline", action=argparse.BooleanOptionalAction, default=True)
    args = parser.parse_args()
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(random.randint(20000, 60000)),
                   "RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    folder = pathlib.Path(tempfile.mkdtemp(dir=args.nvme))
    try:
        train(args, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
