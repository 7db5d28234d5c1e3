#include "tests/support/ptx/parse_operand.hpp"

#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {
namespace {

class Operands {
 public:
  Operands(Cursor& cursor, Scopes const& scopes) : m_cursor(cursor), m_scopes(scopes) {}

  Operand parse() {
    auto result = parse_simple();
    if (!m_cursor.takes("|")) return result;
    Operand pair{.form = Operand::Form::list};
    pair.list = {std::move(result), parse_simple()};
    return pair;
  }

 private:
  Operand parse_simple() {
    if (m_cursor.takes("{")) return parse_list();
    if (m_cursor.takes("[")) return parse_address();
    if (m_cursor.sees_number()) {
      auto const number = m_cursor.number();
      return {.form = Operand::Form::number, .bits = number.bits, .literal = number.type};
    }
    bool const is_negated = m_cursor.takes("!");
    auto result = parse_name();
    if (is_negated && result.form != Operand::Form::reg)
      refuse(m_cursor.line(), "only a predicate may be negated");
    result.is_negated = is_negated;
    return result;
  }

  Operand parse_list() {
    Operand result{.form = Operand::Form::list};
    do result.list.push_back(parse_simple());
    while (m_cursor.takes(","));
    m_cursor.expect("}");
    return result;
  }

  Operand parse_address() {
    Operand result{.form = Operand::Form::address};
    if (!m_cursor.sees_number()) {
      auto const base = parse_name();
      result.reg = base.reg;
      result.name = base.name;
      result.offset = base.offset;
    } else {
      result.offset = m_cursor.whole();
    }
    m_cursor.expect("]");
    return result;
  }

  // Reads a register, a special register, _ or a symbol. A number with + or - may follow.
  Operand parse_name() {
    auto const name = m_cursor.word();
    Operand result{.name = name};
    if (name == "_") return result;
    result.reg = m_scopes.find_register(name);
    result.form = result.reg >= 0         ? Operand::Form::reg
                  : name.starts_with('%') ? Operand::Form::special
                                          : Operand::Form::symbol;
    if (result.form != Operand::Form::symbol) result.name = result.reg >= 0 ? "" : name;
    if (m_cursor.takes("+") || m_cursor.sees("-")) result.offset = m_cursor.whole();
    return result;
  }

  Cursor& m_cursor;
  Scopes const& m_scopes;
};

}  // namespace

Operand parse_operand(Cursor& cursor, Scopes const& scopes) {
  return Operands(cursor, scopes).parse();
}

}  // namespace spillway::test::ptx
