#include "tests/support/ptx/parse_declaration.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/math.hpp"
#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {
namespace {

// Passes `.align 8 .ptr .global .b8` and returns the type.
Type attributes(Cursor& cursor, std::size_t& alignment) {
  Type type = Type::none;
  while (cursor.peek().text.starts_with('.')) {
    auto const line = cursor.line();
    auto const word = cursor.word();
    if (word == ".align") {
      alignment = static_cast<std::size_t>(cursor.whole());
    } else if (word == ".ptr") {  // describes what a pointer points at, which changes nothing here
      while (cursor.takes(".global") || cursor.takes(".shared") || cursor.takes(".const") ||
             cursor.takes(".local") || cursor.takes(".align")) {
        if (cursor.sees_number()) cursor.whole();
      }
    } else if (auto const named = type_named(word.substr(1)); named != Type::none) {
      type = named;
    } else {
      refuse(line, "'{}' in a declaration is not offered", word);
    }
  }
  return type;
}

void parse_head(Cursor& cursor, Variable& result) {
  std::size_t alignment = 0, count = 1;
  result.line = cursor.line();
  result.type = attributes(cursor, alignment);
  if (result.type == Type::none) refuse(result.line, "a declaration has no type");
  result.name = cursor.word();
  while (cursor.takes("[")) {
    result.is_sized = !cursor.sees("]");
    count *= result.is_sized ? static_cast<std::size_t>(cursor.whole()) : 0;
    cursor.expect("]");
  }
  std::size_t const element = facts(result.type).bytes;
  result.bytes = count * element;
  result.alignment = std::max(alignment, element);
  if (!std::has_single_bit(result.alignment))
    refuse(result.line, "{} is no alignment", result.alignment);
}

std::uint64_t converted(Number const& number, Type type, int line) {
  if (number.type == Type::f32 && type == Type::f64)
    return std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(number.bits))));
  if (number.type == Type::f64 && type != Type::f64) refuse(line, "a double is too wide here");
  return number.bits;
}

// Reads an element of an initial value: a number, a symbol, generic(symbol), or symbol + number.
void parse_element(Cursor& cursor, Variable& variable, std::size_t at) {
  auto const bytes = facts(variable.type).bytes;
  if (at + bytes > variable.bytes) refuse(cursor.line(), "{} has too many values", variable.name);
  if (cursor.sees_number()) {
    auto const line = cursor.line();
    auto const value = converted(cursor.number(), variable.type, line);
    std::memcpy(variable.initial.data() + at, &value, bytes);
    return;
  }
  if (bytes != 8) refuse(cursor.line(), "an address does not fit into {} bytes", bytes);
  bool const is_generic = cursor.takes("generic");
  if (is_generic) cursor.expect("(");
  Relocation relocation{at, cursor.word(), 0};
  if (is_generic) cursor.expect(")");
  if (cursor.takes("+")) relocation.offset = cursor.whole();
  variable.relocations.push_back(relocation);
}

void parse_initial(Cursor& cursor, Variable& variable) {
  variable.initial.resize(variable.bytes);
  std::size_t at = 0;
  if (!cursor.takes("{")) return parse_element(cursor, variable, 0);
  int depth = 1;  // counts open braces; rows of arrays simply follow each other
  while (depth > 0) {
    if (cursor.takes("{")) {
      ++depth;
    } else if (cursor.takes("}")) {
      --depth;
    } else if (!cursor.takes(",")) {
      parse_element(cursor, variable, at);
      at += facts(variable.type).bytes;
    }
  }
}

}  // namespace

Variable parse_variable(Cursor& cursor, Space space) {
  Variable result;
  result.space = space;
  parse_head(cursor, result);
  if (cursor.takes("=")) parse_initial(cursor, result);
  cursor.expect(";");
  return result;
}

Parameter parse_parameter(Cursor& cursor, std::size_t offset) {
  cursor.expect(".param");
  Variable variable;
  parse_head(cursor, variable);
  if (!variable.is_sized) refuse(variable.line, "parameter {} has no size", variable.name);
  return {variable.name, round_up(offset, variable.alignment), variable.bytes};
}

}  // namespace spillway::test::ptx
