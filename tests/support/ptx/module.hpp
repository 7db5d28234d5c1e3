// A Module is plain data: what a text of PTX says, and nothing of what it means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/ptx/type.hpp"

namespace spillway::test::ptx {

// A Relocation puts the address of `symbol`, plus `offset`, at byte `at` of an initial value.
struct Relocation {
  std::size_t at = 0;
  std::string symbol;
  std::int64_t offset = 0;
};

struct Variable {
  std::string name;
  Space space = Space::global;
  Type type = Type::none;
  std::size_t bytes = 0, alignment = 1;
  bool is_sized = true;                 // if false, a launch says how many bytes there are
  std::vector<std::byte> initial = {};  // is empty if the variable begins as zeros
  std::vector<Relocation> relocations = {};
  int line = 0;
};

struct Parameter {
  std::string name;
  std::size_t offset = 0, bytes = 0;
};

struct Register {
  std::string name;
  Type type = Type::none;
};

struct Operand {
  // Each form uses some of the fields below:
  //   reg      a register `reg`; is_negated if it is a predicate behind !
  //   special  %tid.x or its like, by `name`
  //   number   `bits` of the type `literal`, which is s64, u64, f32 or f64
  //   symbol   the address of the variable `name` plus `offset`, or a label
  //   address  [reg + offset], [name + offset] or [offset]
  //   list     {a, b, ...} or a|b
  //   sink     _, which takes a result that nobody reads
  enum class Form : std::uint8_t { reg, special, number, symbol, address, list, sink };
  Form form = Form::sink;
  int reg = -1;
  bool is_negated = false;
  std::string name = {};
  std::int64_t offset = 0;
  std::uint64_t bits = 0;
  Type literal = Type::none;
  std::vector<Operand> list = {};
};

struct Instruction {
  int line = 0;
  std::string text;  // is as in the module, for messages
  int guard = -1;    // is the number of the predicate's register, or -1
  bool guard_is_negated = false;
  std::vector<std::string> opcode;  // is split at its dots
  std::vector<Operand> operands = {};
  int target = -1;  // is the number of the instruction to which a branch goes
};

struct Kernel {
  std::string name;
  int line = 0;
  std::vector<Parameter> parameters = {};
  std::size_t parameter_bytes = 0;
  std::vector<Register> registers = {};
  std::vector<Variable> variables = {};  // has the shared and local ones that its body declares
  std::vector<Instruction> instructions = {};
  std::size_t most_threads = 1024;  // bounds the threads of a block
};

struct Module {
  std::string version, target;
  std::vector<Variable> variables;
  std::map<std::string, Kernel> kernels;
};

}  // namespace spillway::test::ptx
