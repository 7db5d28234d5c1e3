#include "tests/support/ptx/cursor.hpp"

#include <bit>
#include <charconv>

#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {
namespace {

std::uint64_t digits(std::string_view text, int base, int line) {
  std::uint64_t result = 0;
  auto const* const last = text.data() + text.size();
  auto const [end, error] = std::from_chars(text.data(), last, result, base);
  if (error != std::errc{} || end != last) refuse(line, "'{}' is no number", text);
  return result;
}

Number number_of(std::string_view text, int line) {
  auto const prefix = text.substr(0, 2);
  if (prefix == "0f" || prefix == "0F") return {digits(text.substr(2), 16, line), Type::f32};
  if (prefix == "0d" || prefix == "0D") return {digits(text.substr(2), 16, line), Type::f64};
  bool const is_unsigned = text.ends_with('U');
  if (is_unsigned) text.remove_suffix(1);
  auto const type = is_unsigned ? Type::u64 : Type::s64;
  if (prefix == "0x" || prefix == "0X") return {digits(text.substr(2), 16, line), type};
  if (prefix == "0b" || prefix == "0B") return {digits(text.substr(2), 2, line), type};
  if (text.size() > 1 && text[0] == '0') return {digits(text.substr(1), 8, line), type};
  return {digits(text, 10, line), type};
}

}  // namespace

bool Cursor::takes(std::string_view text) {
  if (!sees(text)) return false;
  ++m_at;
  return true;
}

void Cursor::expect(std::string_view text) {
  if (!takes(text)) refuse(line(), "'{}' stands where '{}' is expected", peek().text, text);
}

std::string Cursor::word() {
  if (peek().form != Token::Form::word) refuse(line(), "'{}' is not a name", peek().text);
  return std::string(next().text);
}

Number Cursor::number() {
  bool const is_negative = takes("-");
  if (peek().form != Token::Form::number) refuse(line(), "'{}' is no number", peek().text);
  auto result = number_of(peek().text, line());
  ++m_at;
  if (is_negative && facts(result.type).kind == Kind::floating)
    refuse(line(), "a number of bits has a sign");
  if (is_negative) result = {0 - result.bits, Type::s64};
  return result;
}

std::int64_t Cursor::whole() {
  auto const result = number();
  if (facts(result.type).kind == Kind::floating) refuse(line(), "a whole number is expected");
  return std::bit_cast<std::int64_t>(result.bits);
}

void Cursor::skip_past(std::string_view text) {
  while (!at_end() && !sees(text)) ++m_at;
  expect(text);
}

void Cursor::skip_block() {
  expect("{");
  for (int depth = 1; depth > 0; ++m_at) {
    if (at_end()) refuse(line(), "a block does not end");
    if (sees("{")) ++depth;
    if (sees("}")) --depth;
  }
}

}  // namespace spillway::test::ptx
