// Globals hold the .global and .const variables of a module.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/ptx/memory.hpp"
#include "tests/support/ptx/module.hpp"

namespace spillway::test::ptx {

class Globals {
 public:
  // Adds a region for each variable, which holds its initial value or zeros, until the Globals end.
  // Device addresses are those of the process. The Memory must live longer. Throws Refused if an
  // initial value names an unknown variable.
  Globals(Module const& module, Memory& memory);
  Globals(Globals const&) = delete;
  Globals& operator=(Globals const&) = delete;
  ~Globals();

  std::uint64_t address_of(std::string const& variable) const;

 private:
  struct alignas(256) Line {
    std::byte bytes[256];
  };

  void relocate(Variable const& variable);

  Memory& m_memory;
  std::map<std::string, std::vector<Line>> m_bytes;
};

}  // namespace spillway::test::ptx
