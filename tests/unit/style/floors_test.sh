#!/usr/bin/env bash
# Configures a small project with the real cmake/Floors.cmake: links that go down pass, and a cycle,
# a link upward and a folder without a floor are each refused by name.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

# library FOLDER LINK...: a folder of the small project, with its links.
library() {
  mkdir -p "$tree/$1"
  echo "add_library(spillway_${1##*/} INTERFACE)
    target_link_libraries(spillway_${1##*/} INTERFACE ${*:2})
    set_property(GLOBAL APPEND PROPERTY spillway_libraries ${1##*/})" >"$tree/$1/CMakeLists.txt"
  echo "add_subdirectory($1)" >>"$tree/CMakeLists.txt"
}

# expect TEXT: the configure fails and says TEXT; "" means that it passes. Starts anew.
expect() {
  echo "check_floors()" >>"$tree/CMakeLists.txt"
  local status=0
  local said
  said=$(cmake -G Ninja -S "$tree" -B "$tree/build" 2>&1 | tr -s '\n ' ' ') || status=$?
  if [[ -z $1 && $status != 0 || -n $1 && ($status == 0 || $said != *"$1"*) ]]; then
    echo "expected '$1', but the configure said (status $status): $said" >&2
    failed=1
  fi
  start
}

start() {
  rm -rf "${tree:?}"/*
  echo "cmake_minimum_required(VERSION 3.25)
    project(small LANGUAGES NONE)
    include($root/cmake/Floors.cmake)" >"$tree/CMakeLists.txt"
}

start
library lib/base
library lib/kernels spillway_base spillway_fast
library lib/kernels/fast spillway::base
library io/ring spillway::base
library io/spill spillway::ring
expect ""

library lib/base
library io/ring spillway::spill
library io/spill '$<LINK_ONLY:spillway::ring>'
expect "cycle between libraries: ring -> spill -> ring"

library lib/graph spillway::plan
library lib/plan
expect "graph links to plan, which lives above it"

library lib/plan/data
library lib/plan/time spillway::data
library lib/plan/search spillway::time spillway_graph
library lib/plan spillway::search
library lib/graph
expect ""

library lib/plan/data spillway::time
library lib/plan/time
expect "data links to time, which lives above it"

library lib/plan/attic
expect "give plan/attic/ a floor"

library lib/attic
expect "give attic/ a floor"

library lib/plan spillway::nowhere
expect "plan links to nowhere, which is not a library"
exit $failed
