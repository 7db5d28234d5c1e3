// A TokenStream is read by parsers, a token after the other; only for this folder's sources.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jinja/lexer.hpp"
#include "jinja/source.hpp"

namespace spillway::jinja {

class TokenStream {
 public:
  TokenStream(std::vector<Token> tokens, std::string const& path)
      : m_tokens(std::move(tokens)), m_path(path) {}

  Token const& peek() const { return m_tokens[m_at]; }
  Token take() { return is(TokenKind::end) ? m_tokens[m_at] : m_tokens[m_at++]; }
  std::int64_t line() const { return peek().line; }

  bool is(TokenKind kind) const { return peek().kind == kind; }
  bool is(TokenKind kind, std::string_view text) const { return is(kind) && peek().text == text; }
  bool is_symbol(std::string_view text) const { return is(TokenKind::symbol, text); }
  bool is_name(std::string_view text) const { return is(TokenKind::name, text); }
  // Returns whether the token behind the next is a name of that text.
  bool is_second_name(std::string_view text) const {
    return m_at + 1 < m_tokens.size() && m_tokens[m_at + 1].kind == TokenKind::name &&
           m_tokens[m_at + 1].text == text;
  }
  bool is_second_symbol(std::string_view text) const {
    return m_at + 1 < m_tokens.size() && m_tokens[m_at + 1].kind == TokenKind::symbol &&
           m_tokens[m_at + 1].text == text;
  }

  bool takes_symbol(std::string_view text) {
    if (!is_symbol(text)) return false;
    take();
    return true;
  }
  bool takes_name(std::string_view text) {
    if (!is_name(text)) return false;
    take();
    return true;
  }
  void expect(TokenKind kind, char const* what) {
    if (!is(kind)) fail(what);
    take();
  }
  void expect_symbol(std::string_view text) {
    if (!takes_symbol(text)) fail(fmt::format("`{}` is missing", text));
  }
  std::string expect_name() {
    if (!is(TokenKind::name)) fail("a name is missing");
    return take().text;
  }
  [[noreturn]] void fail(std::string const& why) const {
    auto const& token = peek();
    auto const before = token.text.empty() ? "" : fmt::format(" before `{:.40}`", token.text);
    refuse(m_path, token.line, why + before);
  }

 private:
  std::vector<Token> m_tokens;
  std::string const& m_path;
  std::size_t m_at = 0;
};

}  // namespace spillway::jinja
