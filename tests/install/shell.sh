#!/usr/bin/env bash
# shell.sh BUILD ROOT: the installed man page and completion know every command, option and key; the
# page also has every exit status, every variable that is read and every file that a run leaves.
# shellcheck disable=SC1091,SC2154,SC2016  # install.sh sets work and prefix
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/install.sh"
export PATH=$prefix/bin:$PATH
failed=0
complain() {
  echo "$*" >&2
  failed=1
}
list() { awk "$1" <<<"$2"; }  # AWK TEXT
help=$(spillway --help)
commands=$(list '/^[A-Z]/ {on = /^Subcommands/} on && /^  [a-z]/ {print $1}' "$help")
(($(wc -w <<<"$commands") >= 9)) || complain "commands: $commands"
keys=$(grep -oE '^\| `[a-z_.0-9]+`' "$2/docs/keys.md" | tr -d '|` ')
(($(wc -w <<<"$keys") >= 50)) || complain "keys: $keys"

# The page, without roff's marks.
page=$prefix/share/man/man1/spillway.1
text=$(sed 's/\\-/-/g; s/\\&//g' "$page")
has() { grep -qF -- "$1" <<<"$text" || complain "man page: no '$1'"; }
for command in $commands; do
  has ".SS $command"
  for option in $(list '/^  -/ {print $1}' "$(spillway "$command" --help)"); do has "$option"; done
done
for key in $keys; do has ".B $key"; done
part() { sed -n "/^.SH $1\$/,/^.SH/p" <<<"$text"; }  # SECTION
statuses=$(sed -nE 's/^  [a-z_]+ = ([0-9]+),.*/\1/p' "$2/lib/base/error.hpp")
(($(wc -w <<<"$statuses") >= 9)) || complain "exit statuses: $statuses"
for status in $statuses; do
  grep -qx ".B $status" <<<"$(part 'EXIT STATUS')" || complain "man page: no exit status $status"
done
# Every text that looks like a variable, but names of types and of tasks.
variables=$(grep -rhoE '"([A-Z][A-Z0-9]*(_[A-Z0-9]+)+|HOME)"' "$2"/{lib,io,app,modules} \
  --include='*.[ch]pp' | tr -d '"' | grep -vE '^F8_|_LM$' | sort -u)
(($(wc -w <<<"$variables") >= 10)) || complain "variables: $variables"
for variable in $variables; do
  grep -qw "$variable" <<<"$(part ENVIRONMENT)" || complain "man page: no variable $variable"
done
files=$(sed -n '/^## In run.dir/,/^## Elsewhere/p' "$2/docs/outputs.md" |
  sed -nE 's/^\| `([^`]+)` .*/\1/p')
(($(wc -w <<<"$files") >= 10)) || complain "files: $files"
for file in $files; do
  grep -qF -- "$file" <<<"$(part FILES)" || complain "man page: no file $file"
done
[[ -n $(part EXAMPLES) ]] || complain "man page: no examples"
if grep -nE '^[.]' "$page" | grep -vE ':\.(TH|SH|SS|TP|P|B|BR|IR|EX|EE)( |$)'; then
  complain "man page: a line of text that roff takes for a command"
fi
if command -v groff >/dev/null; then
  [[ -z $(groff -man -Tutf8 -ww -z "$page" 2>&1) ]] || complain "man page: groff warns"
fi
if command -v mandoc >/dev/null; then
  # Without a date a page is the same whenever it is built.
  warnings=$(mandoc -T lint -W warning "$page" | grep -v 'missing date' || true)
  [[ -z $warnings ]] || complain "man page: mandoc warns: $warnings"
fi

# What a person sees who presses Tab behind these words.
source "$prefix/share/bash-completion/completions/spillway"
complete_words() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _spillway
  echo "${COMPREPLY[*]-}"
}
expect() {  # EXPECTED WORDS...
  local seen
  seen=$(complete_words "${@:2}")
  [[ $seen == "$1" ]] || complain "completion of '${*:2}': '$seen' instead of '$1'"
}
cd "$work"
touch notes.yaml
expect "${commands//$'\n'/ }" spillway ""
expect "profile plan" spillway p
expect "--version" spillway --v
expect "--machine --machines" spillway plan --m
expect "--items" spillway plan --i
expect "--separator" spillway tokenize --s
expect "model.layers=" spillway train in.yaml model.la
expect "notes.yaml" spillway train no
expect "notes.yaml" spillway train in.yaml plan.file = no
expect "" spillway tokenize model.la
[[ $(complete_words spillway plan in.yaml "" | tr ' ' '\n' | grep -c =) == $(wc -w <<<"$keys") ]] ||
  complain "completion does not know all keys of docs/keys.md"
exit $failed
