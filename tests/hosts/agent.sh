#!/usr/bin/env bash
# agent.sh ADDRESS COMMAND...: what Open MPI calls in place of ssh. Host k is 10.77.0.k.
# shellcheck disable=SC2016  # the inner shell expands
set -euo pipefail
number=${1##*.}
shift
exec nsenter --net="/run/netns/$SPILLWAY_HOSTS-$number" unshare --uts \
  bash -c 'hostname "node$0"; exec sh -c "$1"' "$number" "$*"
