#include "tests/support/ptx/frame.hpp"

#include <algorithm>

#include "base/math.hpp"
#include "tests/support/ptx/refused.hpp"
#include "tests/support/ptx/specials.hpp"

namespace spillway::test::ptx {
namespace {

bool names(Operand const& operand, std::string const& symbol) {
  return operand.name == symbol ||
         std::ranges::any_of(operand.list, [&](auto const& each) { return names(each, symbol); });
}

unsigned lane_bytes(Type type) {
  return type == Type::pred ? 0 : std::max(2u, facts(type).bytes);
}

}  // namespace

Frame::Frame(Module const& module, Kernel const& kernel, AddressOf const& address_of, Code& code)
    : m_kernel(kernel), m_address_of(address_of), m_code(code) {
  for (auto const& each : kernel.registers) {
    auto const bytes = lane_bytes(each.type);
    m_registers.push_back({take(bytes), bytes});
  }
  for (auto const& parameter : kernel.parameters) m_addresses[parameter.name] = parameter.offset;
  for (auto const& variable : kernel.variables) lay_out(variable);
  lay_out_shared_of_module(module);
  lay_out_dynamic(module);
}

Slot Frame::take(unsigned bytes) {
  auto const result = m_code.slots;
  m_code.slots += std::max(1u, static_cast<unsigned>(bytes * kLanes / kSlotBytes));
  return result;
}

void Frame::lay_out(Variable const& variable) {
  auto& end = variable.space == Space::local ? m_code.local_bytes : m_code.shared_bytes;
  m_addresses[variable.name] = round_up(end, variable.alignment);
  end = m_addresses[variable.name] + variable.bytes;
  // Each thread's local memory follows that of the thread before, and must be aligned as well.
  if (variable.space == Space::local) m_code.local_bytes = round_up(end, std::size_t{16});
}

// As for a GPU, a block gets only those of the module's shared variables that its kernel uses.
void Frame::lay_out_shared_of_module(Module const& module) {
  for (auto const& variable : module.variables) {
    if (variable.space != Space::shared) {
      m_globals.insert(variable.name);
    } else if (variable.is_sized && mentions(m_kernel, variable.name)) {
      lay_out(variable);
    }
  }
}

// Shared memory that a launch adds lies behind all variables with a size. All variables without one
// begin there.
void Frame::lay_out_dynamic(Module const& module) {
  std::size_t alignment = 16;
  auto const is_dynamic = [](Variable const& variable) {
    return !variable.is_sized && variable.space == Space::shared;
  };
  for (auto const& variable : module.variables)
    if (is_dynamic(variable) && mentions(m_kernel, variable.name))
      alignment = std::max(alignment, variable.alignment);
  m_code.shared_bytes = round_up(m_code.shared_bytes, alignment);
  for (auto const& variable : module.variables)
    if (is_dynamic(variable)) m_addresses[variable.name] = m_code.shared_bytes;
}

bool Frame::mentions(Kernel const& kernel, std::string const& symbol) {
  return std::ranges::any_of(kernel.instructions, [&](Instruction const& instruction) {
    return std::ranges::any_of(instruction.operands,
                               [&](auto const& operand) { return names(operand, symbol); });
  });
}

Slot Frame::constant(std::uint64_t value, unsigned bytes) {
  if (bytes == 0) value = value == 0 ? 0 : 1;
  if (bytes > 0 && bytes < 8) value &= (std::uint64_t{1} << (8 * bytes)) - 1;
  auto const [found, is_new] = m_constants.try_emplace({bytes, value}, m_code.slots);
  if (is_new) m_code.constants.push_back({take(bytes), bytes, value});
  return found->second;
}

SlotOf Frame::special(std::string const& name, int line) {
  auto const bytes = special_bytes(name);
  if (bytes == 0) refuse(line, "special register '{}' is not offered", name);
  auto const [found, is_new] = m_specials.try_emplace(name, SlotOf{m_code.slots, bytes});
  if (is_new) m_code.specials.push_back({take(bytes), name});
  return found->second;
}

std::uint64_t Frame::address(std::string const& symbol, int line) const {
  if (auto const found = m_addresses.find(symbol); found != m_addresses.end()) return found->second;
  if (!m_globals.contains(symbol)) refuse(line, "'{}' is no variable", symbol);
  return m_address_of(symbol);
}

}  // namespace spillway::test::ptx
