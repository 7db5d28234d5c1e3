// docs/ops.md against the table of op kinds.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "graph/operands.hpp"

namespace spillway::op_reference_test {
namespace {

// Splits at separators outside of brackets.
std::vector<std::string> parts(std::string const& text, char separator) {
  std::vector<std::string> result(1);
  int depth = 0;
  for (char const c : text) {
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    if (c == separator && depth == 0)
      result.emplace_back();
    else
      result.back() += c;
  }
  return result;
}

std::string first_word(std::string const& text) {
  auto const begin = text.find_first_not_of(" [");
  return text.substr(begin, text.find_first_of(" ],", begin) - begin);
}

// "x", and "x?" of one that may be absent, as in "[x T[M,C]]?".
std::string operand(std::string const& text) {
  return first_word(text) + (text.find("]?") == text.npos ? "" : "?");
}

struct Row {
  std::vector<std::string> inputs, outputs;
  bool operator==(Row const&) const = default;
};

// The rows below the table's head, by kind.
std::multimap<std::string, Row> documented() {
  std::multimap<std::string, Row> rows;
  std::ifstream file(SPILLWAY_SOURCE_DIR "/docs/ops.md");
  bool below_head = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| ---")) {
      below_head = true;
    } else if (below_head && line.starts_with("| ")) {
      auto const cells = parts(line, '|');
      Row row;
      for (auto const& part : parts(cells.at(2), ',')) row.inputs.push_back(operand(part));
      for (auto const& part : parts(cells.at(3), ',')) row.outputs.push_back(operand(part));
      rows.emplace(first_word(cells.at(1)), row);
    }
  }
  return rows;
}

TEST(OpReference, has_one_row_for_every_kind_with_its_operands_in_their_order) {
  std::multimap<std::string, Row> kinds;
  auto const add = [&](OpKind kind) {
    auto& row = kinds.emplace(name(kind), Row())->second;
    for (auto const& operand : operand_rows(kind))
      (operand.is_output ? row.outputs : row.inputs)
          .push_back(std::string(operand.name) + (operand.may_be_absent ? "?" : ""));
  };
#define SPILLWAY_OP(name, rule, operands) add(OpKind::name);
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
  auto const found = documented();
  ASSERT_EQ(found.size(), kinds.size());
  for (auto const& [kind, row] : kinds) {
    ASSERT_EQ(found.count(kind), 1u) << kind;
    EXPECT_EQ(found.find(kind)->second.inputs, row.inputs) << kind;
    EXPECT_EQ(found.find(kind)->second.outputs, row.outputs) << kind;
  }
}

}  // namespace
}  // namespace spillway::op_reference_test
