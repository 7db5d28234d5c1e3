// docs/ops.md against the table of op kinds.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

namespace spillway::op_reference_test {
namespace {

// The first word of every row below the table's head.
std::multiset<std::string> documented_kinds() {
  std::multiset<std::string> kinds;
  std::ifstream file(SPILLWAY_SOURCE_DIR "/docs/ops.md");
  bool below_head = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| ---")) {
      below_head = true;
    } else if (below_head && line.starts_with("| ")) {
      kinds.insert(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return kinds;
}

TEST(OpReference, HasOneRowForEveryKindAndNoOther) {
  std::multiset<std::string> const kinds = {
#define SPILLWAY_OP(name, rule) #name,
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
  };
  EXPECT_EQ(documented_kinds(), kinds);
}

}  // namespace
}  // namespace spillway::op_reference_test
