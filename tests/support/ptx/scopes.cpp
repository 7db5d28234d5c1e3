#include "tests/support/ptx/scopes.hpp"

#include <utility>

#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {

// A branch whose label is none of this scope may mean a label of the scope around it.
void Scopes::close() {
  auto const scope = std::move(m_scopes.back());
  m_scopes.pop_back();
  for (auto const branch : scope.branches) {
    auto& instruction = m_kernel.instructions[branch];
    if (instruction.operands.size() != 1) refuse(instruction.line, "a branch has one label");
    auto const& label = instruction.operands[0].name;
    auto const found = scope.labels.find(label);
    if (found != scope.labels.end())
      instruction.target = found->second;
    else if (m_scopes.empty())
      refuse(instruction.line, "no label is '{}'", label);
    else
      m_scopes.back().branches.push_back(branch);
  }
}

void Scopes::add_register(std::string const& name, Type type) {
  m_scopes.back().registers[name] = static_cast<int>(m_kernel.registers.size());
  m_kernel.registers.push_back({name, type});
}

void Scopes::add_label(std::string const& name, int line) {
  auto const at = static_cast<int>(m_kernel.instructions.size());
  if (!m_scopes.back().labels.emplace(name, at).second) refuse(line, "label {} is twice", name);
}

void Scopes::add_branch() {
  m_scopes.back().branches.push_back(m_kernel.instructions.size());
}

int Scopes::find_register(std::string const& name) const {
  for (auto scope = m_scopes.rbegin(); scope != m_scopes.rend(); ++scope)
    if (auto const found = scope->registers.find(name); found != scope->registers.end())
      return found->second;
  return -1;
}

}  // namespace spillway::test::ptx
