#include "tests/support/ptx/lexer.hpp"

#include <algorithm>
#include <cctype>

#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {
namespace {

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
         c == '.';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : m_rest(text) {}

  std::vector<Token> all() {
    std::vector<Token> result;
    for (skip_blanks(); !m_rest.empty(); skip_blanks()) result.push_back(next());
    result.push_back({Token::Form::end, {}, m_line});
    return result;
  }

 private:
  Token next() {
    char const c = m_rest.front();
    if (c == '"') return quoted();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return take(Token::Form::number, word());
    if (is_of_word(c)) return take(Token::Form::word, word());
    constexpr std::string_view marks = "{}[]()<>,;:=+-!|@*";
    if (marks.find(c) == marks.npos) refuse(m_line, "'{}' is no part of PTX", c);
    return take(Token::Form::mark, 1);
  }

  // Returns the length of the word that comes. Two colons belong to a word, one colon ends a label.
  std::size_t word() const {
    std::size_t n = 0;
    while (n < m_rest.size()) {
      if (is_of_word(m_rest[n])) {
        ++n;
      } else if (m_rest.substr(n, 2) == "::") {
        n += 2;
      } else {
        break;
      }
    }
    return n;
  }

  Token take(Token::Form form, std::size_t n) {
    Token const result{form, m_rest.substr(0, n), m_line};
    m_rest.remove_prefix(n);
    return result;
  }

  Token quoted() {
    m_rest.remove_prefix(1);
    auto const end = m_rest.find('"');
    if (end == m_rest.npos) refuse(m_line, "a text does not end");
    auto const result = take(Token::Form::text, end);
    m_rest.remove_prefix(1);
    return result;
  }

  void skip_blanks() {
    while (!m_rest.empty()) {
      if (m_rest.starts_with("//")) {
        skip(std::min(m_rest.find('\n'), m_rest.size()));
      } else if (m_rest.starts_with("/*")) {
        auto const end = m_rest.find("*/", 2);
        if (end == m_rest.npos) refuse(m_line, "a comment does not end");
        skip(end + 2);
      } else if (std::isspace(static_cast<unsigned char>(m_rest.front())) != 0) {
        skip(1);
      } else {
        return;
      }
    }
  }
  void skip(std::size_t n) {
    m_line +=
        static_cast<int>(std::count(m_rest.begin(), m_rest.begin() + static_cast<long>(n), '\n'));
    m_rest.remove_prefix(n);
  }

  std::string_view m_rest;
  int m_line = 1;
};

}  // namespace

std::vector<Token> tokens(std::string_view text) {
  return Lexer(text).all();
}

}  // namespace spillway::test::ptx
