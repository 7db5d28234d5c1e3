# bash completion: commands and options as `spillway --help` lists them, keys of the input file as
# `spillway --print-config` does.
_spillway_options() {
  "$@" --help 2>/dev/null | awk '/^  -/ {gsub(",", " "); for (i = 1; $i ~ /^-/; i++) print $i}'
}

_spillway_commands() {
  "$1" --help 2>/dev/null | awk '/^[A-Z]/ {on = /^Subcommands/} on && /^  [a-z]/ {print $1}'
}

# Every key with the groups before it: "model.layers=".
_spillway_keys() {
  "$1" --print-config 2>/dev/null | awk '/^ *[a-z_0-9]+:/ {
    match($0, /^ */)
    depth = RLENGTH / 2
    group[depth] = $1
    sub(":", "", group[depth])
    if (NF == 1) next
    key = group[0]
    for (i = 1; i <= depth; i++) key = key "." group[i]
    print key "="
  }'
}

_spillway() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} command='' other keys=''
  COMPREPLY=()
  for other in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $other == -* ]] || { command=$other; break; }
  done
  # "=" parts words: what stands behind it is a value, of which files alone are known.
  if [[ $word == "=" || ${COMP_WORDS[COMP_CWORD-1]} == "=" ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "${word#=}")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_spillway_options "$program" ${command:+"$command"})" -- "$word")
  elif [[ -z $command && ${COMP_WORDS[COMP_CWORD-1]} != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_spillway_commands "$program")" -- "$word")
  else
    case $command in train | eval | profile | plan | rok) keys=$(_spillway_keys "$program") ;; esac
    mapfile -t COMPREPLY < <(compgen -W "$keys" -- "$word"; compgen -f -- "$word")
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
  fi
}
complete -o filenames -F _spillway spillway
