// The Table lists all instructions that the interpreter has. Each group of opcodes adds its forms.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "tests/support/ptx/module.hpp"
#include "tests/support/ptx/operation.hpp"

namespace spillway::test::ptx {

// A Form has a letter for each operand; results come before '='. Alternatives with another number
// of operands follow after a blank.
//   2 4 8  a register, number or address of so many bytes
//   p      a predicate
//   q      a predicate as a second result, after |, which may be left out
//   w      a register that is at least as wide as the type of the Operation
//   v      registers of at least `bytes` bytes, in braces or a single one
//   h      registers of just `bytes` bytes, in braces
//   m      an address in brackets; a second m is the source of a copy
//   z      a number of bytes, or a predicate that means no bytes if it holds
//   c      a policy for caches, which nobody reads
//   k      the mask of those lanes that take part
//   i      a number, which becomes the immediate
//   l      a label
struct Form {
  Operation operation;  // has no slots yet
  std::string operands;
};

class Table {
 public:
  Operation& add(std::string const& opcode, std::string const& operands, Execute execute);
  // Lets an opcode have these modifiers, with blanks between them, which change nothing here, such
  // as `.uni` of bra.
  void ignore(std::string const& opcode, std::string_view modifiers);
  // Throws Refused, which names the opcode, type or modifier that the table lacks.
  Form const& find(Instruction const& instruction) const;
  // Names forms by their whole opcode. `mov.pack2.b32` stands for a mov.b32 of parts of 2 bytes.
  std::map<std::string, Form> const& forms() const { return m_forms; }

 private:
  std::string why_not(Instruction const& instruction) const;

  std::map<std::string, Form> m_forms;
  std::map<std::string, std::set<std::string>> m_ignored;
};

Table const& table();

void add_integers(Table& table);
void add_products(Table& table);
void add_carries(Table& table);
void add_bits(Table& table);
void add_fields(Table& table);
void add_floats(Table& table);
void add_approximations(Table& table);
void add_halves(Table& table);
void add_conversions(Table& table);
void add_moves(Table& table);
void add_comparisons(Table& table);
void add_half_comparisons(Table& table);
void add_predicates(Table& table);
void add_flow(Table& table);
void add_accesses(Table& table);
void add_atomics(Table& table);
void add_shuffles(Table& table);
void add_decisions(Table& table);
void add_matrix_loads(Table& table);
void add_matrices(Table& table);
void add_copies(Table& table);

}  // namespace spillway::test::ptx
