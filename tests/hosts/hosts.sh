# shellcheck shell=bash
# Sourced: hosts node1, node2, ... in network namespaces, joined by a switch.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export SPILLWAY_HOSTS=spillway-$$

skip() {
  echo "skipped: $1"
  exit 77
}

remove_hosts() {
  for namespace in $(ip netns list 2>/dev/null | awk -v mine="$SPILLWAY_HOSTS-" \
    'index($1, mine) == 1 {print $1}'); do
    ip netns pids "$namespace" | xargs -r kill -9 || true  # some have just ended
    ip netns delete "$namespace" || true
  done
}

add_host() {  # NUMBER
  local host=$SPILLWAY_HOSTS-$1 switch=$SPILLWAY_HOSTS-switch
  ip netns add "$host"
  ip link add wire netns "$host" type veth peer name "port$1" netns "$switch"
  ip -n "$switch" link set "port$1" master bridge up
  ip -n "$host" address add "10.77.0.$1/24" dev wire
  ip -n "$host" link set wire up
  ip -n "$host" link set lo up
}

make_hosts() {  # COUNT
  for tool in ip tc nsenter; do
    command -v $tool >/dev/null || skip "$tool is missing (packages iproute2, util-linux)"
  done
  ip netns add "$SPILLWAY_HOSTS-switch" 2>/dev/null || skip "no network namespaces may be made here"
  trap remove_hosts EXIT
  ip -n "$SPILLWAY_HOSTS-switch" link add bridge type bridge 2>/dev/null ||
    skip "this kernel has no bridges"
  ip -n "$SPILLWAY_HOSTS-switch" link set bridge up
  for ((number = 1; number <= $1; ++number)); do add_host "$number"; done
}

slow_down() {  # NUMBER RATE: what the host sends
  ip netns exec "$SPILLWAY_HOSTS-$1" tc qdisc add dev wire root tbf rate "$2" burst 64kb \
    latency 100ms 2>/dev/null || skip "this kernel cannot slow links down (tbf)"
}

# run_on "10.77.0.1:1,..." COMMAND...: as mpirun on node1 does it, one rank for every slot.
run_on() {
  local places=$1
  shift
  ip netns exec "$SPILLWAY_HOSTS-1" unshare --uts bash -c 'hostname node1; exec "$@"' - \
    mpirun --allow-run-as-root --oversubscribe --bind-to none --host "$places" \
    --mca plm rsh --mca plm_rsh_agent "$here/agent.sh" -x XDG_CACHE_HOME \
    --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 \
    --mca oob_tcp_if_include 10.77.0.0/24 "$@"
}
