#!/usr/bin/env bash
# write_manual.sh PROGRAM FILE: the man page, from what the program says of itself, and then
# manual_end.man.
set -euo pipefail
program=$1
"$program" --version >/dev/null || {
  echo "warning: $program does not start here (built for another processor?): no man page" >&2
  rm -f "$2"
  exit 0
}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
{
  echo "version $("$program" --version | head -n 1)"
  "$program" --help
  "$program" --help | awk '/^[A-Z]/ {on = /^Subcommands/} on && /^  [a-z]/ {print $1}' |
    while read -r command; do
      echo "command $command"
      "$program" "$command" --help
    done
  echo keys
  "$program" --print-config
} | awk -f "$here/manual.awk" | cat - "$here/manual_end.man" >"$2.new"
mv "$2.new" "$2"
