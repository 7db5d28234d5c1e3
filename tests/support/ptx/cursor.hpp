// A Cursor walks over the tokens of a module. What is not what it should be is refused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/ptx/lexer.hpp"
#include "tests/support/ptx/type.hpp"

namespace spillway::test::ptx {

struct Number {
  std::uint64_t bits = 0;
  Type type = Type::none;  // s64, u64, f32 or f64
};

class Cursor {
 public:
  explicit Cursor(std::vector<Token> tokens) : m_tokens(std::move(tokens)) {}

  Token const& peek(std::size_t ahead = 0) const {
    return m_tokens[std::min(m_at + ahead, m_tokens.size() - 1)];
  }
  Token const& next() {
    auto const& result = peek();
    ++m_at;
    return result;
  }
  int line() const { return peek().line; }
  bool at_end() const { return peek().form == Token::Form::end; }
  bool sees(std::string_view text) const { return peek().text == text && !at_end(); }
  bool takes(std::string_view text);  // whether it is next; then it is passed
  void expect(std::string_view text);
  std::string word();  // the next token, which must be a word
  bool sees_number() const { return peek().form == Token::Form::number || sees("-"); }
  Number number();                        // with its sign
  std::int64_t whole();                   // a number that is no fraction
  void skip_past(std::string_view text);  // all tokens up to and with it
  void skip_block();                      // from { to its }

  // What was written from the token at which `from` is to here, blanks as they are.
  char const* begin() const { return peek().text.data(); }
  char const* end_of_last() const {
    auto const& last = m_tokens[m_at - 1].text;
    return last.data() + last.size();
  }

 private:
  std::vector<Token> m_tokens;
  std::size_t m_at = 0;
};

}  // namespace spillway::test::ptx
