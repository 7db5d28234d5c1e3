// A module of PTX as plain data: what its text says, and nothing of what it means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/ptx/type.hpp"

namespace spillway::test::ptx {

// The address of `symbol` is stored at byte `at` of an initial value.
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
  bool is_sized = true;                 // otherwise a launch says how many bytes there are
  std::vector<std::byte> initial = {};  // empty: zeros
  std::vector<Relocation> relocations = {};
  int line = 0;
};

struct Parameter {
  std::string name;
  std::size_t offset = 0, bytes = 0, alignment = 1;
};

struct Register {
  std::string name;
  Type type = Type::none;
};

struct Operand {
  enum class Form : std::uint8_t {
    reg,      // `reg`, and `is_negated` if it is a predicate behind !
    special,  // %tid.x and its like: `name`
    number,   // `bits` of the type `literal`: s64, u64, f32 or f64
    symbol,   // the address of variable `name`, or a label, and `offset`
    address,  // [reg + offset] or [name + offset] or [offset]
    list,     // {a, b, ...} or a|b
    sink      // _
  };
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
  std::string text;  // as in the module, for messages
  int guard = -1;    // number of the predicate's register
  bool guard_is_negated = false;
  std::vector<std::string> opcode;  // split at its dots
  std::vector<Operand> operands = {};
  int target = -1;  // of a branch: number of an instruction
};

struct Kernel {
  std::string name;
  int line = 0;
  std::vector<Parameter> parameters = {};
  std::size_t parameter_bytes = 0;
  std::vector<Register> registers = {};
  std::vector<Variable> variables = {};  // shared and local ones that it declares itself
  std::vector<Instruction> instructions = {};
  std::size_t most_threads = 1024;  // of a block
};

struct Module {
  std::string version, target;
  std::vector<Variable> variables;
  std::map<std::string, Kernel> kernels;
};

}  // namespace spillway::test::ptx
