#!/bin/bash
# sbatch -A PROJECT [-J NAME] [-N NODES] jobs/machines/karolina.sh [INPUT [key=value ...]]
#SBATCH --job-name=spillway
#SBATCH --partition=qgpu
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8            # a rank for each A100
#SBATCH --cpus-per-task=16
#SBATCH --gpus-per-node=8
#SBATCH --gpu-bind=none                # ranks choose theirs by local rank
#SBATCH --exclusive
#SBATCH --time=04:00:00
#SBATCH --signal=USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out
source jobs/machines/karolina-profile.sh
# Without a disk of the nodes: what does not fit goes to main memory.
exec bash jobs/slurm/many-nodes.sh "${1:-input/gpt.yaml}" memory.nvme=none "${@:2}"
