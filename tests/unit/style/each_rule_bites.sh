#!/usr/bin/env bash
# Plants a breach of every rule in a small clean tree: check.sh must report that rule and no other.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

clean_tree() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/floors "$tree"/src/lib/{base,plan}
  echo base >"$tree/floors/base"
  printf 'base\nplan\n' >"$tree/floors/plan"
  echo "# base" >"$tree/src/lib/base/README.md"
  echo "# plan" >"$tree/src/lib/plan/README.md"
  printf '#pragma once\n\nnamespace spillway {}\n' >"$tree/src/lib/base/a.hpp"
  cp "$tree"/src/lib/{base/a,plan/b}.hpp
  cat >"$tree/src/lib/plan/b.cpp" <<'SOURCE'
#include "plan/b.hpp"

#include "base/a.hpp"

// Kokkos::View
char const* s = "MPI_Init";
SOURCE
}

failed=0
# expect RULE FILE TEXT: TEXT appended to FILE breaks RULE ("" for none).
expect() {
  clean_tree
  mkdir -p "$(dirname "$tree/src/$2")"
  printf '%b' "$3" >>"$tree/src/$2"
  local seen
  seen=$("$here/check.sh" "$tree/src" "$tree/floors" | awk '{print $2}' | sort -u || true)
  seen=${seen%:}
  if [[ $seen != "$1" ]]; then
    echo "planted in $2: expected '$1', reported '$seen'" >&2
    failed=1
  fi
}

repeat() { printf "%.0s$2" $(seq "$1"); }
slash=/  # so that this file does not break the rules itself
dot=.
tab='\t'

expect "" lib/base/a.hpp ""
expect "" lib/base/a.hpp "// $(repeat 97 x)\n// $(repeat 97 ×)\n"
expect width lib/base/a.hpp "// $(repeat 98 x)\n"
for kind in hpp cu cuh; do
  expect width lib/base/b.$kind "#pragma once\n// $(repeat 98 x)\n"
done
expect width lib/base/README.md "$(repeat 101 x)\n"
expect "" lib/base/README.md "| $(repeat 101 x) |\n\n    $(repeat 101 x)\n"
expect "" lib/base/README.md "\`\`\`\n$(repeat 101 x)\n\`\`\`\n"
expect "" lib/base/a.hpp "// clang-format off\n// $(repeat 98 x)\n// clang-format on\n"
expect length lib/base/a.hpp "$(repeat 498 '//\\n')"
expect tab lib/base/a.hpp "//${tab}x\n"
expect trailing-space lib/base/README.md "x \n"
expect machine-path lib/base/README.md "see ${slash}home/me/notes\n"
expect machine-path lib/base/a.hpp "// ${slash}tmp/x\n"
expect registry-host lib/base/README.md "https://pypi${dot}org/simple\n"
expect readme lib/model/a.hpp "#pragma once\n"
expect using-namespace lib/base/a.hpp "using namespace std;\n"
for kind in hpp cuh; do
  expect pragma-once lib/base/c.$kind "#include <vector>\n"
done
for kind in cpp cu; do
  expect own-header-first lib/base/a.$kind "#include <vector>\n#include \"base/a.hpp\"\n"
done
expect function-length lib/base/c.cpp "void f() {\n$(repeat 70 ';\\n')}\n"
expect "" lib/base/c.cpp "void f() {\n$(repeat 68 ';\\n')}\n"
for kind in cpp cu cuh; do
  expect floors lib/base/c.$kind "#pragma once\n#include \"plan/b.hpp\"\n"
done
expect support-path lib/plan/c.cpp "#include \"support/b.hpp\"\n"
expect test-name lib/plan/c.cpp "TEST(Words, SayWhatIsMissing) {\n}\n"
for name in say_what_OpenMP_misses DISABLED_says; do
  expect "" lib/plan/c.cpp "TEST(Words, $name) {\n}\n"
done
expect floors lib/base/c.cpp "#include \"app/b.hpp\"\n"
for text in "// as GPT-2 has it" "int bert_rows;" "struct T5Bias;" "// Qwen3: norms" "// llama's" \
            "bool is_mistral;"; do
  expect family-names lib/plan/c.cpp "$text\n"
  expect family-names lib/plan/README.md "$text\n"
  expect "" lib/base/c.cpp "$text\n"
done
expect "" lib/plan/c.cpp "// alberta, gpt2 and llama3\n"
while read -r include; do
  expect library-names lib/base/c.cpp "$include\n"
done <<'NAMES'
#include <yaml-cpp/yaml.h>
#include <mpi.h>
#include <hdf5.h>
#include <liburing.h>
#include <dnnl.hpp>
#include <Kokkos_Core.hpp>
#include <cuda_runtime_api.h>
auto x = YAML::Load(s);
int r = MPI_Barrier(c);
int r = H5Fopen(p);
int r = io_uring_submit(q);
dnnl::memory m;
Kokkos::View<int> v;
cudaStream_t s;
int r = cuMemUnmap(p, n);
CUresult r;
int r = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
NAMES
exit $failed
