"""MLP-Offload, arXiv 2509.02480: state on a drive and on a parallel file system at once."""
from rows import Paper, Row

KEYS = {"optim.clip": 0, "data.sequence": 2048}
# A node with 512 GB; a drive that reads 6.9 and writes 5.3 GB/s, and a file system with 3.6 each
# way, by four GPUs.
NODE = {"ranks": 4, "memory.host": "512GB", "nvme.write_gbps": 2.2, "nvme.read_gbps": 2.6,
        "nvme.both_gbps": 2.6}
# ZeRO-3 with the optimizer's state off the GPU, updated by the processor.
ZERO = {"plan.parameters": "device", "plan.shard": "all", "plan.optimizer": "nvme",
        "plan.update": "host", "plan.gradients": "host"}


def step(size, theirs, **more):
    return Row(f"4 x H100, Llama {size}", "h100", f"Llama {size}", theirs, "s", ranks=4, keys=KEYS,
               machine_with=NODE, forced=ZERO, **more)


LARGE = ("12 bytes a parameter go to drives there and 10 here; gradients of all layers lie in main "
         "memory, which then holds less of the state there")

PAPER = Paper(
    "MLP-Offload",
    "arXiv 2509.02480 and the logs in github.com/mauryaavinash95/MLP-Offload: four H100, one "
    "sequence of 2048 tokens each, ZeRO-3 with the optimizer's state on a drive and a parallel "
    "file system, shapes as in its scripts (their 40B has 48B parameters). ZeRO-3 on the drive "
    "alone took 242, 239, 371, 572 and 550 s. Assumed: both together read 10.5 and write 8.9 GB/s, "
    "reading and writing at once 10.5.",
    (
        step("40B", 101.7), step("52B", 92.17), step("70B", 151.3), step("100B", 275.5, why=LARGE),
        step("120B", 288.2, why=LARGE),
    ),
)
