// Finds the slots of an instruction's operands. Throws Refused for those of other widths.
#pragma once

#include "tests/support/ptx/frame.hpp"
#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {

class OperandSlots {
 public:
  OperandSlots(Frame& frame, Instruction const& instruction)
      : m_frame(frame), m_instruction(instruction) {}

  Frame& frame() const { return m_frame; }
  unsigned bytes_of(Operand const& reg) const { return m_frame.of_register(reg.reg).bytes; }

  // Returns the slot of a register or constant of just this width, in bytes. 0 means a predicate.
  Slot narrow(Operand const& operand, unsigned bytes, bool is_result) const;
  // Returns the slot of a register or constant that may be wider, and how wide it is.
  SlotOf wide(Operand const& operand, unsigned least, bool is_result) const;

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> why, Args&&... args) const {
    refuse(m_instruction.line, "{} (in '{}')", fmt::format(why, std::forward<Args>(args)...),
           m_instruction.text);
  }

 private:
  SlotOf place_of(Operand const& operand, bool is_result) const;
  std::uint64_t address_of(Operand const& operand) const;
  std::uint64_t bits_for(Operand const& operand, unsigned bytes) const;

  Frame& m_frame;
  Instruction const& m_instruction;
};

}  // namespace spillway::test::ptx
