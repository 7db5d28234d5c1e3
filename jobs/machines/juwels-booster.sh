#!/bin/bash
# sbatch -A PROJECT [-J NAME] [-N NODES] jobs/machines/juwels-booster.sh [INPUT [key=value ...]]
#SBATCH --job-name=spillway
#SBATCH --partition=booster
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4            # a rank for each A100
#SBATCH --cpus-per-task=12
#SBATCH --gres=gpu:4
#SBATCH --exclusive
#SBATCH --time=04:00:00
#SBATCH --signal=USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out
source jobs/machines/juwels-booster-profile.sh
export CUDA_VISIBLE_DEVICES=0,1,2,3    # else each rank of srun sees one GPU of its own
# Without a disk of the nodes: what does not fit goes to main memory.
exec bash jobs/slurm/many-nodes.sh "${1:-input/gpt.yaml}" memory.nvme=none "${@:2}"
