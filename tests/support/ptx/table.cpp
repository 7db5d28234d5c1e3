#include "tests/support/ptx/table.hpp"

#include <algorithm>
#include <utility>

#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {
namespace {

std::string joined(std::vector<std::string> const& parts, std::set<std::string> const& without) {
  std::string result = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (!without.contains(parts[i]))
      result += "." + (parts[i] == "shared::cta" ? "shared" : parts[i]);
  return result;
}

bool has_part(std::string const& opcode, std::string const& part) {
  auto const dotted = opcode + ".";
  return dotted.find("." + part + ".") != dotted.npos;
}

Table make_table() {
  Table result;
  for (auto const add :
       {add_integers,    add_products,         add_carries,    add_bits,         add_fields,
        add_floats,      add_approximations,   add_halves,     add_conversions,  add_moves,
        add_comparisons, add_half_comparisons, add_predicates, add_flow,         add_accesses,
        add_atomics,     add_shuffles,         add_decisions,  add_matrix_loads, add_matrices,
        add_copies})
    add(result);
  return result;
}

}  // namespace

Operation& Table::add(std::string const& opcode, std::string const& operands, Execute execute) {
  auto& form = m_forms[opcode];
  form.operands = operands;
  form.operation.execute = execute;
  return form.operation;
}

void Table::ignore(std::string const& opcode, std::string_view modifiers) {
  auto& ignored = m_ignored[opcode];
  while (!modifiers.empty()) {
    auto const blank = std::min(modifiers.find(' '), modifiers.size());
    ignored.emplace(modifiers.substr(0, blank));
    modifiers.remove_prefix(std::min(blank + 1, modifiers.size()));
  }
}

Form const& Table::find(Instruction const& instruction) const {
  auto const ignored = m_ignored.find(instruction.opcode[0]);
  auto const name = joined(instruction.opcode,
                           ignored == m_ignored.end() ? std::set<std::string>{} : ignored->second);
  auto const found = m_forms.find(name);
  if (found == m_forms.end()) refuse(instruction.line, "{}", why_not(instruction));
  return found->second;
}

std::string Table::why_not(Instruction const& instruction) const {
  auto const& parts = instruction.opcode;
  auto const opcode = joined(parts, {});
  auto const belongs = [&](auto const& form) {
    return form.first == parts[0] || form.first.starts_with(parts[0] + ".");
  };
  auto unknown = std::set<std::string>(parts.begin() + 1, parts.end());
  bool is_there = false;
  for (auto const& form : m_forms) {
    if (!belongs(form)) continue;
    is_there = true;
    std::erase_if(unknown, [&](auto const& part) { return has_part(form.first, part); });
  }
  if (!is_there) return fmt::format("opcode '{}' is not offered (in '{}')", parts[0], opcode);
  if (auto const ignored = m_ignored.find(parts[0]); ignored != m_ignored.end())
    std::erase_if(unknown, [&](auto const& part) { return ignored->second.contains(part); });
  if (!unknown.empty())
    return fmt::format("'.{}' of '{}' is not offered (in '{}')", *unknown.begin(), parts[0],
                       opcode);
  return fmt::format("'{}' is not offered", opcode);
}

Table const& table() {
  static Table const result = make_table();
  return result;
}

}  // namespace spillway::test::ptx
