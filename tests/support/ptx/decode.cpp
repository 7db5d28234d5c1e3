// Finds the form of each instruction and fills in its slots.
#include "tests/support/ptx/bind_operands.hpp"
#include "tests/support/ptx/code.hpp"
#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {
namespace {

// A mov with braces is of another form: `mov.unpack2.b32 {a, b}, c` has parts of 2 bytes.
Instruction with_vector_named(Instruction const& instruction) {
  auto result = instruction;
  for (auto const& operand : result.operands) {
    if (result.opcode[0] != "mov" || operand.form != Operand::Form::list) continue;
    auto const bytes = facts(type_named(result.opcode.back())).bytes / operand.list.size();
    auto const* const way = &operand == &result.operands[0] ? "unpack" : "pack";
    result.opcode.insert(result.opcode.begin() + 1, way + std::to_string(bytes));
    break;
  }
  return result;
}

}  // namespace

Code decode(Module const& module, std::string const& kernel, AddressOf const& address_of) {
  auto const found = module.kernels.find(kernel);
  if (found == module.kernels.end()) throw Refused("no kernel is called " + kernel);
  Code code{.kernel = &found->second};
  Frame frame(module, found->second, address_of, code);
  for (auto const& instruction : found->second.instructions) {
    auto const& form = table().find(with_vector_named(instruction));
    code.operations.push_back(with_operands(form, frame, instruction));
  }
  code.operations.push_back({.flow = Flow::beyond_end});
  return code;
}

}  // namespace spillway::test::ptx
