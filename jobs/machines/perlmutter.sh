#!/bin/bash
# sbatch -A PROJECT_g [-J NAME] [-N NODES] jobs/machines/perlmutter.sh [INPUT [key=value ...]]
#SBATCH --job-name=spillway
#SBATCH --constraint=gpu               # 40 GB each; gpu&hbm80g: nodes with 80 GB
#SBATCH --qos=regular
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4            # a rank for each A100
#SBATCH --cpus-per-task=32
#SBATCH --gpus-per-node=4
#SBATCH --gpu-bind=none                # ranks choose theirs by local rank
#SBATCH --exclusive
#SBATCH --time=04:00:00
#SBATCH --signal=USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out
source jobs/machines/perlmutter-profile.sh
# Nodes have no disk of their own: $PSCRATCH is Lustre, which all nodes share.
exec bash jobs/slurm/many-nodes.sh "${1:-input/gpt.yaml}" memory.nvme=none "${@:2}"
