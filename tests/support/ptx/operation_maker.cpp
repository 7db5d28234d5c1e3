#include "tests/support/ptx/operation_maker.hpp"

#include <algorithm>
#include <stdexcept>

namespace spillway::test::ptx {
namespace {

std::vector<Operand> parts_of(Operand const& operand) {
  return operand.form == Operand::Form::list ? operand.list : std::vector{operand};
}

}  // namespace

Operation OperationMaker::made() {
  need_elements();
  add_guard();
  return std::move(m_result);
}

void OperationMaker::need_elements() const {
  if (m_result.elements != 0 && m_result.list.size() != m_result.elements)
    m_slots.fail("{} registers stand where {} are needed", m_result.list.size(), m_result.elements);
}

void OperationMaker::add_guard() {
  m_result.target = m_instruction.target;
  if (m_instruction.guard < 0) return;
  auto const guard = m_slots.frame().of_register(m_instruction.guard);
  if (guard.bytes != 0) m_slots.fail("what guards an instruction is a predicate");
  m_result.guard = guard.slot;
  m_result.guard_is_negated = m_instruction.guard_is_negated;
}

void OperationMaker::add_second_result(Operand const& operand) {
  m_result.to2 = m_slots.narrow(operand, 0, true);
}

void OperationMaker::add(char letter, Operand const& operand, bool is_result) {
  m_is_result = is_result;
  switch (letter) {
    case '2':
    case '4':
    case '8':
      return add_slot(m_slots.narrow(operand, static_cast<unsigned>(letter - '0'), m_is_result));
    case 'p':
      return add_slot(m_slots.narrow(operand, 0, m_is_result), operand.is_negated);
    case 'w':
      return add_wide(operand);
    case 'v':
      return add_wide_list(operand);
    case 'h':
      return add_list(operand);
    case 'z':
      return add_size_or_predicate(operand);
    case 'm':
      return add_address(operand);
    case 'k':
      m_result.members = m_slots.narrow(operand, 4, is_result);
      return;
    case 'c':
      m_slots.narrow(operand, 8, false);
      return;
    case 'i':
      return add_immediate(operand);
    case 'l':
      return;
    default:
      throw std::logic_error("a form has an unknown letter");
  }
}

void OperationMaker::add_slot(Slot slot, bool is_negated) {
  if (m_is_result) {
    m_result.to = slot;
    return;
  }
  if (is_negated) m_result.negated |= static_cast<std::uint8_t>(1u << m_sources);
  m_result.from[m_sources++] = slot;
}

void OperationMaker::add_wide(Operand const& operand) {
  auto const type = m_is_result ? m_result.to_type : m_result.type;
  auto const least = std::max(2u, facts(type).bytes);
  auto const [place, bytes] = m_slots.wide(operand, least, m_is_result);
  (m_is_result ? m_result.to_bytes : m_result.register_bytes) = static_cast<std::uint8_t>(bytes);
  add_slot(place);
}

unsigned OperationMaker::least_bytes() const {
  return std::max(2u, unsigned{m_result.bytes});
}

void OperationMaker::add_list(Operand const& operand) {
  for (auto const& part : parts_of(operand))
    m_result.list.push_back(m_slots.narrow(part, least_bytes(), m_is_result));
}

// All registers have one width, which may be more than that of the elements in memory.
void OperationMaker::add_wide_list(Operand const& operand) {
  auto const parts = parts_of(operand);
  auto const is_register = [](Operand const& part) { return part.form == Operand::Form::reg; };
  auto const first = std::ranges::find_if(parts, is_register);
  auto const width = first == parts.end() ? least_bytes() : m_slots.bytes_of(*first);
  m_result.register_bytes = static_cast<std::uint8_t>(width);
  for (auto const& part : parts) {
    if (is_register(part) && m_slots.bytes_of(part) != width)
      m_slots.fail("registers of a list have several widths");
    if (!is_register(part) && !m_is_result && width > least_bytes())
      m_slots.fail("a number stands among wider registers");
    m_result.list.push_back(m_slots.wide(part, least_bytes(), m_is_result).slot);
  }
}

// from[0] is the number of bytes, from[1] the predicate that says whether there are none.
void OperationMaker::add_size_or_predicate(Operand const& operand) {
  bool const is_predicate = operand.form == Operand::Form::reg && m_slots.bytes_of(operand) == 0;
  if (is_predicate) m_sources = 1;
  add_slot(m_slots.narrow(operand, is_predicate ? 0 : 4, false), operand.is_negated);
}

void OperationMaker::add_address(Operand const& operand) {
  if (operand.form != Operand::Form::address) m_slots.fail("an address in brackets is expected");
  Slot base = kZeros;
  auto offset = operand.offset;
  unsigned bytes = 8;
  if (operand.reg >= 0) {
    auto const found = m_slots.frame().of_register(operand.reg);
    if (found.bytes != 4 && found.bytes != 8) m_slots.fail("an address has 4 or 8 bytes");
    base = found.slot;
    bytes = found.bytes;
  } else if (!operand.name.empty()) {
    offset += static_cast<std::int64_t>(m_slots.frame().address(operand.name, m_instruction.line));
  }
  if (m_addresses++ == 0) {
    m_result.address = base;
    m_result.offset = offset;
    m_result.address_bytes = static_cast<std::uint8_t>(bytes);
  } else {
    if (bytes != 8) m_slots.fail("the address of a copy's source has 8 bytes");
    m_result.address2 = base;
    m_result.offset2 = offset;
  }
}

void OperationMaker::add_immediate(Operand const& operand) {
  if (operand.form != Operand::Form::number) m_slots.fail("a number is expected");
  m_result.immediate = static_cast<std::int64_t>(operand.bits);
}

}  // namespace spillway::test::ptx
