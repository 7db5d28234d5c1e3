// A Frame gives slots to the registers, constants and special registers of a kernel, and addresses
// to its shared and local variables.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/support/ptx/code.hpp"

namespace spillway::test::ptx {

struct SlotOf {
  Slot slot;
  unsigned bytes;  // is the width of a lane's value; a predicate has 0
};

class Frame {
 public:
  Frame(Module const& module, Kernel const& kernel, AddressOf const& address_of, Code& code);

  SlotOf of_register(int number) const { return m_registers[static_cast<std::size_t>(number)]; }
  Slot constant(std::uint64_t value, unsigned bytes);
  SlotOf special(std::string const& name, int line);
  // Returns the address that a parameter or variable has in its own space. Throws Refused if there
  // is none of this name.
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
  std::map<std::string, std::uint64_t> m_addresses;  // has parameters, shared and local variables
  std::set<std::string> m_globals;                   // names the module's global variables
};

}  // namespace spillway::test::ptx
