#include "tests/support/ptx/operand_slots.hpp"

#include <bit>

namespace spillway::test::ptx {

Slot OperandSlots::narrow(Operand const& operand, unsigned bytes, bool is_result) const {
  using Form = Operand::Form;
  if (operand.form == Form::sink) return is_result ? kSink : kZeros;
  if (!is_result && operand.form == Form::number)
    return m_frame.constant(bits_for(operand, bytes), bytes);
  if (!is_result && operand.form == Form::symbol && operand.name == "WARP_SZ")
    return m_frame.constant(kLanes, bytes);
  if (!is_result && operand.form == Form::symbol && bytes >= 4)
    return m_frame.constant(address_of(operand), bytes);
  auto const found = place_of(operand, is_result);
  if (found.bytes != bytes) fail("an operand has {} bytes and should have {}", found.bytes, bytes);
  return found.slot;
}

SlotOf OperandSlots::wide(Operand const& operand, unsigned least, bool is_result) const {
  using Form = Operand::Form;
  if (operand.form == Form::number || operand.form == Form::sink || operand.form == Form::symbol)
    return {narrow(operand, least, is_result), least};
  auto const found = place_of(operand, is_result);
  if (found.bytes < least) fail("an operand has {} bytes and needs {}", found.bytes, least);
  return found;
}

SlotOf OperandSlots::place_of(Operand const& operand, bool is_result) const {
  if (operand.form == Operand::Form::reg && operand.offset == 0)
    return m_frame.of_register(operand.reg);
  if (operand.form == Operand::Form::special && !is_result)
    return m_frame.special(operand.name, m_instruction.line);
  fail("an operand is none of those that are offered");
}

std::uint64_t OperandSlots::address_of(Operand const& operand) const {
  return m_frame.address(operand.name, m_instruction.line) +
         static_cast<std::uint64_t>(operand.offset);
}

// PTX lets a number of f32 stand where an f64 is wanted.
std::uint64_t OperandSlots::bits_for(Operand const& operand, unsigned bytes) const {
  if (operand.literal == Type::f32 && bytes == 8)
    return std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))));
  if (operand.literal == Type::f64 && bytes < 8) fail("a double is too wide here");
  return operand.bits;
}

}  // namespace spillway::test::ptx
