#!/bin/bash
# sbatch -A PROJECT [-J NAME] [-N NODES] jobs/machines/leonardo.sh [INPUT [key=value ...]]
#SBATCH --job-name=spillway
#SBATCH --partition=boost_usr_prod
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4            # a rank for each A100
#SBATCH --cpus-per-task=8
#SBATCH --gres=gpu:4
#SBATCH --mem=494000
#SBATCH --exclusive
#SBATCH --time=04:00:00
#SBATCH --signal=USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out
source jobs/machines/leonardo-profile.sh
# Without a disk of the nodes: what does not fit goes to main memory.
exec bash jobs/slurm/many-nodes.sh "${1:-input/gpt.yaml}" memory.nvme=none "${@:2}"
