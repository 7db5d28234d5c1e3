#!/usr/bin/env bash
# easyconfig.sh ROOT TOOLS: our easyconfig names what the tree needs, and EasyBuild finds all of it
# among its own and ours; a dependency that there is not is refused.
set -euo pipefail
root=$1 tools=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1 TMPDIR=$work HOME=$work
file=$(echo "$root"/easybuild/spillway-*.eb)

python3 "$here/easyconfig_rules.py" "$root" "$file"
for mistake in "s/('xxHash', '0.8.3'),//" s/DSPILLWAY_NATIVE/DNATIVE/ \
               "s/^version = .*/version = '0'/" s/gpt.yaml\'\]/gtp.yaml\'\]/; do
  sed "$mistake" "$file" >"$work/${file##*/}"
  if said=$(python3 "$here/easyconfig_rules.py" "$root" "$work/${file##*/}") || [[ -z $said ]]; then
    echo "not reported: $mistake" >&2
    exit 1
  fi
done

bash "$here/tools.sh" "$tools"
export PYTHONPATH=$tools/python:$tools/easybuild PATH=$PATH:$tools/python/bin
resolve() {
  python3 "$here/resolve_easyconfig.py" "$1" "$tools/easybuild/easybuild/easyconfigs" "$2"
}
resolve "$root/easybuild" "$file" >"$work/modules"
grep -q '^spillway/' "$work/modules"
echo "EasyBuild finds all $(wc -l <"$work/modules") modules"
sed "s/('fmt', '[^']*')/('fmt', '0.0.1')/" "$file" >"$work/${file##*/}"
if resolve "$root/easybuild" "$work/${file##*/}" >"$work/said" 2>&1 ||
  ! grep -q fmt "$work/said"; then
  echo "a version of fmt that there is not was not missed:" >&2
  tail -3 "$work/said" >&2
  exit 1
fi
