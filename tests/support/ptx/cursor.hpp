// A Cursor walks over the tokens of a module. Its functions throw Refused, with the line, if what
// comes is not what they expect.
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
  Type type = Type::none;  // is s64, u64, f32 or f64
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
  bool takes(std::string_view text);   // passes this token if it is next; returns whether it was
  void expect(std::string_view text);  // passes this token, which must be next
  std::string word();                  // passes a word and returns it
  bool sees_number() const { return peek().form == Token::Form::number || sees("-"); }
  Number number();                        // passes a number with its sign
  std::int64_t whole();                   // passes a number that is no fraction
  void skip_past(std::string_view text);  // passes all tokens up to this one, and this one
  void skip_block();                      // passes a block from its { to its }

  // These give the begin of the next token and the end of the last one, for the text between them.
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
