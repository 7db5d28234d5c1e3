# Prints "file:line: rule: explanation" for every breach. Variables: `names` (library_names.txt) and
# `floors`, a folder with one file per library that lists what it may include.
function width_of(line) {
  gsub(/[\200-\277]/, "", line)
  return length(line)
}

function breach(rule, text) {
  printf "%s:%d: %s: %s\n", FILENAME, FNR, rule, text
}

# The library that owns a path: the innermost folder that is one, by its name, with its parent's
# before it, or as what it is for the host.
function library_of(path, parts, n, i) {
  n = split(path, parts, "/")
  for (i = n - 1; i > 0; i--) {
    if (parts[i] in reach) return parts[i]
    if (i > 1 && parts[i - 1] "_" parts[i] in reach) return parts[i - 1] "_" parts[i]
    if (parts[i] "_host" in reach) return parts[i] "_host"
  }
  return ""
}

# What nvcc compiles is a part of the module for CUDA devices, which has all folders of kernels, and
# that of CUDA's devices.
function check_include(from, to, target) {
  target = $2
  gsub(/"/, "", target)
  if (FILENAME ~ /\.cuh?$/ && target ~ /^(kernels|device\/cuda)\//) return
  from = FILENAME ~ /^tests\// ? "" : library_of(FILENAME)
  to = library_of(target)
  if (from != "" && to != "" && index(reach[from], " " to " ") == 0)
    breach("floors", from " may not include " target ": it does not link to " to)
  if (from != "" && target ~ /^(app|tests)\//) breach("floors", from " may not include " target)
}

# A source's first include is its own header, so that the header is known to compile alone.
function check_first_include(own, target) {
  own = FILENAME
  sub(/.*\//, "", own)
  sub(/\.(cpp|cu)$/, ".hpp", own)
  header = FILENAME
  sub(/\.(cpp|cu)$/, ".hpp", header)
  target = $2
  gsub(/.*\/|["<>]/, "", target)
  if (target != own && (getline line < header) >= 0)
    breach("own-header-first", "include " own " first")
  close(header)
}

function check_names(code, i) {
  if (FILENAME !~ /^(lib|io|app)\//) return
  for (i = 1; i <= libraries; i++)
    if (FILENAME !~ allowed[i] && (" " code) ~ pattern[i])
      breach("library-names", "only under " allowed[i] ": " pattern[i])
}

# What plans, runs and computes knows ops and no family of models. `llama3` scales positions and
# `gpt2` makes tokens: files of others have these words.
function check_families(line) {
  if (FILENAME !~ /^(lib\/(plan|runtime|kernels|graph)|io)\//) return
  line = " " line " "
  gsub(/(llama3|gpt2)[^A-Za-z0-9]/, " ", line)
  if (line ~ /(Gpt|Llama|Bert|T5|Qwen|Mistral)[A-Z0-9]/ ||
      tolower(line) ~ /[^a-z0-9](gpt|llama|bert|t5|qwen|mistral)[0-9]*[^a-z0-9]/)
    breach("family-names", "the name of a family of models, which only lib/model and above know")
}

# Functions at column 0, the whole of them, braces included.
function check_function_length() {
  if ($0 ~ /^[A-Za-z].*\{$/ && $0 !~ /^(namespace|struct|class|enum|union|extern)/) opened = FNR
  if ($0 ~ /^}/ && opened) {
    if (FNR - opened >= 70) breach("function-length", "a function of more than 70 lines")
    opened = 0
  }
}

BEGIN {
  while ((getline line < names) > 0) {
    if (line ~ /^#/) continue
    split(line, columns, / +/)
    allowed[++libraries] = columns[1]
    pattern[libraries] = columns[2]
  }
  list = "ls " floors
  while (floors != "" && (list | getline library) > 0) {
    reach[library] = " "
    while ((getline line < (floors "/" library)) > 0) reach[library] = reach[library] line " "
  }
}

FNR == 1 {
  cpp = FILENAME ~ /\.(cpp|hpp|cu|cuh)$/
  header_file = FILENAME ~ /\.(hpp|cuh)$/
  prose = FILENAME ~ /\.(md|json|txt|cff)$/
  markdown = FILENAME ~ /\.md$/
  includes = opened = table = fenced = 0
}

/[ \t]$/ { breach("trailing-space", "white space at the end") }
/(^|[^A-Za-z0-9_.$})\/-])\/(home|root|work|tmp|Users)\// {
  breach("machine-path", "a path of one machine")
}
/pypi\.org|pythonhosted\.org|deb\.debian\.org|crates\.io|npmjs\.org|anaconda\.org/ {
  breach("registry-host", "the host of a package registry")
}
{ check_families($0 "") }
markdown && /^```/ { fenced = !fenced }
# Tables and code are as wide as they are.
markdown && !fenced && !/^([|#<]|    )/ && width_of($0) > 100 {
  breach("width", "more than 100 columns")
}
prose { next }

/\t/ { breach("tab", "a tab") }
/clang-format off/ { table = 1 }
/clang-format on/ { table = 0 }
!table && width_of($0) > 100 { breach("width", "more than 100 columns") }
FNR == 501 { breach("length", "more than 500 lines") }
!cpp { next }

{
  code = $0
  if (code !~ /^ *#include/) gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
  sub(/\/\/.*/, "", code)
  check_names(code)
  check_function_length()
}
header_file && code ~ /^ *using namespace/ { breach("using-namespace", "in a header") }
header_file && code ~ /^#pragma once/ { once[FILENAME] = 1 }
header_file && code ~ /^(#include|namespace)/ && !(FILENAME in once) {
  once[FILENAME] = 1
  breach("pragma-once", "comes first in a header")
}
code ~ /^#include "/ { check_include() }
code ~ /^#include "support\// {
  breach("support-path", "tests name it from the root: tests/support/")
}
code ~ /^(TYPED_)?TEST(_F|_P)?\([A-Za-z0-9_]+, *[A-Z]+[a-z0-9]+[A-Z]/ {
  breach("test-name", "words with _ between them, as in says_what_is_missing")
}
code ~ /^#include/ && !includes++ && FILENAME ~ /\.(cpp|cu)$/ { check_first_include() }
