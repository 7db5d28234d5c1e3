// Gives slots to what a kernel reads and writes: registers, constants, special registers. Lays out
// shared and local variables.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "tests/support/ptx/code.hpp"

namespace spillway::test::ptx {

struct SlotOf {
  Slot slot;
  unsigned bytes;  // of a lane; 0: a predicate
};

class Frame {
 public:
  Frame(Module const& module, Kernel const& kernel, AddressOf const& address_of, Code& code);

  SlotOf of_register(int number) const { return m_registers[static_cast<std::size_t>(number)]; }
  Slot constant(std::uint64_t value, unsigned bytes);
  SlotOf special(std::string const& name, int line);
  // The address of a parameter or variable in its own space.
  std::uint64_t address(std::string const& symbol, int line) const;

 private:
  Slot take(unsigned bytes);
  void lay_out(Variable const& variable);
  void lay_out_shared_of_module(Module const& module);
  void lay_out_dynamic(Module const& module);
  static bool mentions(Kernel const& kernel, std::string const& symbol);

  Kernel const& m_kernel;
  AddressOf const& m_address_of;
  Code& m_code;
  std::vector<SlotOf> m_registers;
  std::map<std::pair<unsigned, std::uint64_t>, Slot> m_constants;
  std::map<std::string, SlotOf> m_specials;
  std::map<std::string, std::uint64_t> m_addresses;  // of variables, shared and local
  std::map<std::string, bool> m_globals;             // names of those of the module
};

}  // namespace spillway::test::ptx
