#!/usr/bin/env bash
# Sourced: makes $work, open to all and removed at the end, and installs BUILD into $work/prefix.
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
prefix=$work/prefix
umask 022
cmake --install "$build" --prefix "$prefix" >"$work/install.log" || {
  cat "$work/install.log" >&2
  exit 1
}

# What is run must not lean on the build: every library lies in the prefix or the system.
libraries=$(ldd "$prefix/bin/spillway")
if grep -E "not found|$build" <<<"$libraries" >&2; then
  echo "the installed program leans on $build" >&2
  exit 1
fi
