#!/usr/bin/env bash
# with_libraries.sh FOLDER COMMAND...: runs the command with the libraries that requirements.txt
# names, which are installed once, below FOLDER. Exits 77 where pip reaches no packages.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/support/fetch.sh
source "$here/../support/fetch.sh"
folder=$1
shift
mkdir -p "$folder"
(
  cd "$folder"
  flock 9
  cmp -s "$here/requirements.txt" installed.txt && exit 0
  rm -rf python
  fetch "${pip[@]}" install --quiet --no-compile --no-deps --target python \
    --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" installed.txt
) 9>"$folder/lock"
export PYTHONPATH=$folder/python${PYTHONPATH:+:$PYTHONPATH}
exec "$@"
