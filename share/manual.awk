# The man page, from what write_manual.sh collects: the general help, then after each line
# "command NAME" that command's, then after "keys" what --print-config prints.
function escaped(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  sub(/^[.']/, "\\\\&&", text)
  return text
}

# A tagged paragraph, of "name     meaning" or of a name whose meaning comes with the next line.
function entry(line, name, meaning) {
  sub(/^ +/, "", line)
  name = line
  sub(/  .*/, "", name)
  meaning = substr(line, length(name) + 1)
  sub(/^ +/, "", meaning)
  print ".TP\n.B " escaped(name)
  if (meaning != "") print escaped(meaning)
}

function heading(part) {
  if (command == "") print ".SH " toupper(part)
}

BEGIN { section = "help" }

$1 == "version" && FNR == 1 {
  print ".TH SPILLWAY 1 \"\" \"" $2 " " $3 "\" \"User Commands\""
  next
}
/^command / && section != "keys" {
  if (command == "") print ".SH COMMANDS"
  command = $2
  print ".SS " command
  first = has_usage = 0
  next
}
$0 == "keys" && section != "keys" {
  section = "keys"
  print ".SH INPUT FILE"
  print "YAML, one map for each group. On the command line, as"
  print ".IR key = value ,"
  print "after the file; the last one wins."
  next
}

section != "keys" {
  first++
  if (first == 1 && command == "") {
    sub(/^spillway /, "")
    print ".SH NAME\nspillway \\- " escaped($0)
  } else if (first == 1) {
    about = toupper(substr($0, 1, 1)) substr($0, 2)
  } else if (/^Usage: /) {
    if (command != "") print escaped(about) "."
    has_usage = 1
    sub(/^Usage: [^ ]*/, "")
    heading("synopsis")
    if (command != "") print ".P"
    print ".B spillway" escaped($0)
  } else if (!has_usage) {
    about = about " " $0
  } else if (/^(Positionals|Options|Subcommands):/) {
    part = tolower($1)
    sub(/:/, "", part)
    listed = part != "subcommands"  # each has a section of its own
    if (part == "options") heading(part)
  } else if (/^  [^ ]/) {
    if (listed) entry($0)
  } else if (/^   /) {
    sub(/^ +/, "")
    if (listed) print escaped($0)
  } else if (NF) {
    if (was_empty) print ".P"
    print escaped($0)
  }
  was_empty = !NF
  next
}

/^ *#/ {
  sub(/^ *# /, "")
  doc = doc == "" ? $0 : doc " " $0
  next
}
/^ *[a-z_0-9]+:/ {
  match($0, /^ */)
  depth = RLENGTH / 2
  group[depth] = $1
  sub(/:/, "", group[depth])
  if (NF == 1) next
  key = group[0]
  for (i = 1; i <= depth; i++) key = key "." group[i]
  print ".TP\n.B " key "\n" escaped(doc)
  doc = ""
}
