#!/usr/bin/env bash
# easyconfig.sh ROOT TOOLS: our easyconfigs name what the tree needs, and EasyBuild finds all of it
# among its own and ours; a dependency that there is not is refused.
set -euo pipefail
root=$1 tools=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1 TMPDIR=$work HOME=$work
plain=$(echo "$root"/easybuild/spillway-*b.eb)
cuda=$(echo "$root"/easybuild/spillway-*-CUDA-*.eb)

# bites FILE MISTAKES...: each of them, planted in FILE, is reported.
bites() {
  local mistake said copy=$work/${1##*/}
  for mistake in "${@:2}"; do
    sed "$mistake" "$1" >"$copy"
    if cmp -s "$1" "$copy" || said=$(python3 "$here/easyconfig_rules.py" "$root" "$copy") ||
      [[ -z $said ]]; then
      echo "not reported: $mistake" >&2
      exit 1
    fi
  done
}
python3 "$here/easyconfig_rules.py" "$root" "$plain"
python3 "$here/easyconfig_rules.py" "$root" "$cuda"
bites "$plain" "s/('xxHash', '0.8.3'),//" s/DSPILLWAY_NATIVE/DNATIVE/ \
  "s/^version = .*/version = '0'/" s/gpt.yaml\'\]/gtp.yaml\'\]/
bites "$cuda" s/-DSPILLWAY_CUDA=ON// "/'CUDA', /d" /^versionsuffix/d s/12.9.1/12.4.1/ \
  s/kokkos-4.7.00.tar/kokkos-4.7.01.tar/ s/126b/0000/ 's|builddir)s/kokkos|builddir)s/cocos|'

bash "$here/tools.sh" "$tools"
export PYTHONPATH=$tools/python:$tools/easybuild PATH=$PATH:$tools/python/bin
resolve() {
  python3 "$here/resolve_easyconfig.py" "$1" "$tools/easybuild/easybuild/easyconfigs" "$2"
}
for file in "$plain" "$cuda"; do
  resolve "$root/easybuild" "$file" >"$work/modules"
  grep -q '^spillway/' "$work/modules"
  echo "${file##*/}: EasyBuild finds all $(wc -l <"$work/modules") modules"
done
grep -q '^CUDA/12.9.1$' "$work/modules"
sed "s/('fmt', '[^']*')/('fmt', '0.0.1')/" "$plain" >"$work/${plain##*/}"
if resolve "$root/easybuild" "$work/${plain##*/}" >"$work/said" 2>&1 ||
  ! grep -q fmt "$work/said"; then
  echo "a version of fmt that there is not was not missed:" >&2
  tail -3 "$work/said" >&2
  exit 1
fi
