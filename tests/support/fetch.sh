# shellcheck shell=bash disable=SC2034  # those who source it use pip
# For other scripts to source: pip, and how what it fetches may fail.
pip=(python3 -m pip --disable-pip-version-check --retries 1)

# A mistake of ours must not look like a missing network: pip tells them apart by words alone.
fetch() {
  "$@" 2>pip.log && return
  if grep -qiE 'connection|timed out|network is unreachable|name resolution|proxy' pip.log; then
    echo "pip reaches no packages from here: not tested"
    exit 77
  fi
  cat pip.log >&2
  exit 1
}
