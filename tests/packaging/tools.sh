#!/usr/bin/env bash
# tools.sh FOLDER: what requirements.txt names, in the versions that it names, once, below FOLDER:
# python/, and EasyBuild's own recipes in easybuild/. Exits 77 where pip reaches no packages.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
cd "$1"
exec 9>lock
flock 9
cmp -s "$here/requirements.txt" installed.txt && exit 0

# shellcheck source=tests/support/fetch.sh
source "$here/../support/fetch.sh"
version=$(sed -n 's/^easybuild-framework==//p' "$here/requirements.txt")
rm -rf python easybuild
fetch "${pip[@]}" install --quiet --no-compile --no-deps --target python \
  --requirement "$here/requirements.txt"
# Their wheels would be of twenty thousand files: unpacked as they come, they serve as well.
fetch "${pip[@]}" download --quiet --no-deps --dest easybuild \
  "easybuild-easyblocks==$version" "easybuild-easyconfigs==$version"
for archive in easybuild/*.tar.gz; do
  tar --extract --gzip --file "$archive" --directory easybuild --strip-components 1 \
    --wildcards '*/easybuild/*'
  rm "$archive"
done
cp "$here/requirements.txt" installed.txt
