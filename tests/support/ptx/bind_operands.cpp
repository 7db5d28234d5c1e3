#include "tests/support/ptx/bind_operands.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "tests/support/ptx/operation_maker.hpp"

namespace spillway::test::ptx {
namespace {

std::size_t count_of_operands(std::string_view letters) {
  std::size_t result = 0;
  for (char const c : letters)
    if (c != '=' && c != 'q') ++result;
  return result;
}

// Returns that of the alternatives, with blanks between them, which has so many operands.
std::optional<std::string_view> pick(std::string_view alternatives, std::size_t count) {
  while (true) {
    auto const blank = std::min(alternatives.find(' '), alternatives.size());
    auto const letters = alternatives.substr(0, blank);
    if (count_of_operands(letters) == count) return letters;
    if (blank == alternatives.size()) return {};
    alternatives.remove_prefix(blank + 1);
  }
}

// Adds an operand by its letter. If the letter q follows, a list has a second result.
void add_operand(OperationMaker& maker, char letter, bool has_second, bool is_result,
                 Operand const& operand) {
  bool const is_pair = has_second && operand.form == Operand::Form::list;
  maker.add(letter, is_pair ? operand.list[0] : operand, is_result);
  if (is_pair) maker.add_second_result(operand.list[1]);
}

}  // namespace

Operation with_operands(Form const& form, Frame& frame, Instruction const& instruction) {
  auto const& operands = instruction.operands;
  OperandSlots const slots(frame, instruction);
  OperationMaker maker(slots, instruction, form.operation);
  auto const letters = pick(form.operands, operands.size());
  if (!letters) slots.fail("{} operands are not offered", operands.size());
  bool is_result = letters->find('=') != letters->npos;
  std::size_t next = 0;
  for (std::size_t i = 0; i < letters->size(); ++i) {
    auto const letter = (*letters)[i];
    if (letter == '=') is_result = false;
    if (letter == '=' || letter == 'q') continue;
    bool const has_second = i + 1 < letters->size() && (*letters)[i + 1] == 'q';
    add_operand(maker, letter, has_second, is_result, operands[next++]);
  }
  return maker.made();
}

}  // namespace spillway::test::ptx
