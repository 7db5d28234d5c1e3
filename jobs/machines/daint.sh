#!/bin/bash
# sbatch -A PROJECT [-J NAME] [-N NODES] jobs/machines/daint.sh [INPUT [key=value ...]]
#SBATCH --job-name=spillway
#SBATCH --partition=normal
#SBATCH --uenv=prgenv-gnu/24.11:v2
#SBATCH --view=default
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4            # a rank for each GH200
#SBATCH --cpus-per-task=72
#SBATCH --gpus-per-node=4
#SBATCH --exclusive
#SBATCH --time=04:00:00
#SBATCH --signal=USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out
source jobs/machines/daint-profile.sh
# Without a disk of the nodes: what does not fit goes to main memory.
exec bash jobs/slurm/many-nodes.sh "${1:-input/gpt.yaml}" memory.nvme=none "${@:2}"
