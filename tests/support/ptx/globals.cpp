#include "tests/support/ptx/globals.hpp"

#include <bit>
#include <cstring>

#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {

Globals::Globals(Module const& module, Memory& memory) : m_memory(memory) {
  for (auto const& variable : module.variables) {
    if (variable.space == Space::shared) continue;
    auto& lines = m_bytes[variable.name];
    lines.resize(variable.bytes / sizeof(Line) + 1);
    if (!variable.initial.empty())
      std::memcpy(lines.data(), variable.initial.data(), variable.bytes);
    memory.add({.address = address_of(variable.name),
                .bytes = variable.bytes,
                .host = lines[0].bytes,
                .may_write = variable.space == Space::global,
                .name = variable.name});
  }
  for (auto const& variable : module.variables) relocate(variable);
}

Globals::~Globals() {
  for (auto const& [name, lines] : m_bytes) m_memory.remove(address_of(name));
}

std::uint64_t Globals::address_of(std::string const& variable) const {
  auto const found = m_bytes.find(variable);
  if (found == m_bytes.end()) throw Refused("no global variable is called " + variable);
  return std::bit_cast<std::uint64_t>(found->second.data());
}

void Globals::relocate(Variable const& variable) {
  for (auto const& [at, symbol, offset] : variable.relocations) {
    auto const value = address_of(symbol) + static_cast<std::uint64_t>(offset);
    std::memcpy(m_bytes[variable.name][0].bytes + at, &value, sizeof value);
  }
}

}  // namespace spillway::test::ptx
