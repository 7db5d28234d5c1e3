# shellcheck shell=bash
# A Slurm of one node on loopback, with configuration, keys and state of its own below a folder.
# To be sourced: start_cluster FOLDER, then sbatch and the rest as on any cluster; stop_cluster.

cluster_pids=()

free_ports() {
  python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))'
}

# cred_expire: a requeued job waits so long, two minutes if nothing is said. FORCE: jobs that want
# a node of their own share this one, which claims more cores than there are.
write_cluster_conf() {
  local controller_port node_port
  read -r controller_port node_port < <(free_ports)
  cat >"$1/slurm.conf" <<CONF
ClusterName=spillway
SlurmctldHost=localhost
SlurmctldPort=$controller_port
SlurmdPort=$node_port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$1/munge.sock,cred_expire=5
CredType=cred/munge
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
KillWait=5
MailProg=/bin/true
NodeName=localhost CPUs=16 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
CONF
}

daemon() {
  "$@" >>"$cluster/daemons.log" 2>&1 &
  cluster_pids+=($!)
}

# within SECONDS COMMAND...: waits until the command succeeds.
within() {
  local end=$((SECONDS + $1))
  until "${@:2}"; do
    ((SECONDS < end)) || return 1
    sleep 0.2
  done
}

# Fails, with a word, where there is no Slurm or none can be started.
start_cluster() {
  local tool
  export PATH=$PATH:/usr/sbin:/sbin
  for tool in munged slurmctld slurmd sbatch srun; do
    command -v "$tool" >/dev/null || { echo "no $tool here: skipped"; return 1; }
  done
  cluster=$1
  mkdir -p "$cluster/state" "$cluster/spool"
  write_cluster_conf "$cluster"
  export SLURM_CONF=$cluster/slurm.conf
  (umask 077 && head -c 128 /dev/urandom >"$cluster/munge.key")
  daemon munged --foreground --force --key-file="$cluster/munge.key" --num-threads=1 \
    --socket="$cluster/munge.sock" --pid-file="$cluster/munged.pid" \
    --log-file="$cluster/munged.log" --seed-file="$cluster/munged.seed"
  within 300 test -S "$cluster/munge.sock" || { echo "munged does not start: skipped"; return 1; }
  daemon slurmctld -D -c
  daemon slurmd -D -N localhost
  within 300 node_is_idle || {
    tail -n 5 "$cluster"/*.log
    echo "Slurm does not start: skipped"
    return 1
  }
}

node_is_idle() { [[ $(sinfo -h -o %T 2>/dev/null) == idle ]]; }

queue_is_empty() { [[ -z $(squeue -h 2>/dev/null) ]]; }

stop_cluster() {
  local pid
  if ((${#cluster_pids[@]} == 3)); then
    scancel --user="$(id -un)" 2>/dev/null || true
    within 300 queue_is_empty || true
  fi
  for pid in "${cluster_pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait "${cluster_pids[@]}" 2>/dev/null || true
}
