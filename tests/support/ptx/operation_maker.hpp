// An OperationMaker puts the operands of an instruction into an Operation, one after the other. All
// functions throw Refused, with the line, if an operand does not fit.
#pragma once

#include "tests/support/ptx/operand_slots.hpp"

namespace spillway::test::ptx {

class OperationMaker {
 public:
  // Begins with the Operation of a form, which has no slots yet.
  OperationMaker(OperandSlots const& slots, Instruction const& instruction,
                 Operation const& of_form)
      : m_slots(slots), m_instruction(instruction), m_result(of_form) {}

  // Adds the next operand, whose letter is one of a Form (table.hpp).
  void add(char letter, Operand const& operand, bool is_result);
  void add_second_result(Operand const& operand);
  // Ends with what guards the instruction and where it branches. May be called once.
  Operation made();

 private:
  void need_elements() const;
  void add_guard();
  void add_slot(Slot slot, bool is_negated = false);
  void add_wide(Operand const& operand);
  unsigned least_bytes() const;
  void add_list(Operand const& operand);
  void add_wide_list(Operand const& operand);
  void add_size_or_predicate(Operand const& operand);
  void add_address(Operand const& operand);
  void add_immediate(Operand const& operand);

  OperandSlots const& m_slots;
  Instruction const& m_instruction;
  Operation m_result;
  bool m_is_result = false;
  std::size_t m_sources = 0, m_addresses = 0;
};

}  // namespace spillway::test::ptx
