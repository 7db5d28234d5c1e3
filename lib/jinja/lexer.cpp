#include "jinja/lexer.hpp"

#include <algorithm>
#include <array>

#include "jinja/python_text.hpp"
#include "jinja/source.hpp"

namespace spillway::jinja {
namespace {

constexpr std::string_view kWhite = " \t\n\r\v\f";
constexpr std::array<std::string_view, 6> kLongSymbols = {"==", "!=", "<=", ">=", "//", "**"};
constexpr std::string_view kSymbols = "+-*/%~[](){},:.|=<>";

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  Lexer(std::string_view source, std::string const& path) : m_path(path) {
    for (std::size_t i = 0; i < source.size(); ++i) {  // Jinja knows one kind of line ends
      if (source[i] != '\r')
        m_source += source[i];
      else if (i + 1 == source.size() || source[i + 1] != '\n')
        m_source += '\n';
    }
    if (m_source.ends_with('\n')) m_source.pop_back();
  }

  std::vector<Token> run() {
    while (m_at < m_source.size()) {
      auto const begin = next_tag();
      take_text(begin);
      if (m_at < m_source.size()) take_tag();
    }
    add(TokenKind::end, "");
    return std::move(m_tokens);
  }

 private:
  [[noreturn]] void fail(std::string const& why) const { refuse(m_path, m_line, why); }
  std::string_view rest() const { return std::string_view(m_source).substr(m_at); }
  void add(TokenKind kind, std::string text) {
    m_tokens.push_back({kind, std::move(text), m_line});
  }
  void advance(std::size_t bytes) {
    auto const passed = rest().substr(0, bytes);
    m_line += std::ranges::count(passed, '\n');
    m_at += bytes;
  }

  std::size_t next_tag() const {
    for (auto at = m_source.find('{', m_at); at != m_source.npos; at = m_source.find('{', at + 1)) {
      auto const next = at + 1 < m_source.size() ? m_source[at + 1] : ' ';
      if (next == '{' || next == '%' || next == '#') return at;
    }
    return m_source.size();
  }

  // Takes the text before a tag, less what the tag strips of it.
  void take_text(std::size_t begin) {
    auto text = std::string_view(m_source).substr(m_at, begin - m_at);
    auto const sign = begin + 2 < m_source.size() ? m_source[begin + 2] : ' ';
    bool const is_output = begin + 1 < m_source.size() && m_source[begin + 1] == '{';
    if (begin < m_source.size() && sign == '-') {
      text = text.substr(0, text.find_last_not_of(kWhite) + 1);
    } else if (begin < m_source.size() && sign != '+' && !is_output) {
      auto const line = text.rfind('\n') + 1;  // 0 where there is none
      bool const begins_line = line > 0 || m_is_line_start;
      if (begins_line && text.find_first_not_of(kWhite, line) == text.npos)
        text = text.substr(0, line);
    }
    if (!text.empty()) add(TokenKind::text, std::string(text));
    advance(begin - m_at);
  }

  void take_tag() {
    auto const kind = m_source[m_at + 1];
    advance(2);
    if (m_at < m_source.size() && (m_source[m_at] == '-' || m_source[m_at] == '+')) advance(1);
    if (kind == '#') return take_comment();
    add(kind == '{' ? TokenKind::output_begin : TokenKind::block_begin, "");
    m_open.clear();
    while (!take_end(kind == '{' ? "}}" : "%}", kind == '{')) take_token();
  }

  void take_comment() {
    auto const end = m_source.find("#}", m_at);
    if (end == m_source.npos) fail("a comment has no end");
    auto const sign = m_source[end - 1];
    advance(end + 2 - m_at);
    pass_behind(sign, false);
  }

  // Takes the end of a tag if it stands here.
  bool take_end(std::string_view end, bool is_output) {
    advance(std::min(rest().find_first_not_of(kWhite), rest().size()));
    if (rest().empty()) fail("a tag has no end");
    auto const sign = rest().front();
    bool const has_sign =
        (sign == '-' || (sign == '+' && !is_output)) && rest().substr(1).starts_with(end);
    if (!has_sign && (!m_open.empty() || !rest().starts_with(end))) return false;
    add(is_output ? TokenKind::output_end : TokenKind::block_end, "");
    advance(end.size() + (has_sign ? 1 : 0));
    pass_behind(has_sign ? sign : ' ', is_output);
    return true;
  }

  // Passes what a tag's end strips of the text behind it.
  void pass_behind(char sign, bool is_output) {
    auto const before = m_at;
    if (sign == '-')
      advance(std::min(rest().find_first_not_of(kWhite), rest().size()));
    else if (sign != '+' && !is_output && rest().starts_with('\n'))
      advance(1);
    m_is_line_start = m_at > before && m_source[m_at - 1] == '\n';
  }

  void take_token() {
    auto const c = rest().front();
    if (is_name_start(c)) return take_name();
    if (is_digit(c)) return take_number();
    if (c == '"' || c == '\'') return take_string(c);
    for (auto const symbol : kLongSymbols)
      if (rest().starts_with(symbol)) return take_symbol(symbol.size());
    if (kSymbols.find(c) == kSymbols.npos) fail(fmt::format("`{}` is not understood", c));
    follow_brackets(c);
    take_symbol(1);
  }

  void take_symbol(std::size_t bytes) {
    add(TokenKind::symbol, std::string(rest().substr(0, bytes)));
    advance(bytes);
  }

  void follow_brackets(char c) {
    if (c == '(' || c == '[' || c == '{') m_open += c;
    if (c != ')' && c != ']' && c != '}') return;
    auto const opening = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (m_open.empty() || m_open.back() != opening) fail(fmt::format("`{}` closes nothing", c));
    m_open.pop_back();
  }

  void take_name() {
    std::size_t bytes = 1;
    while (bytes < rest().size() && (is_name_start(rest()[bytes]) || is_digit(rest()[bytes])))
      ++bytes;
    add(TokenKind::name, std::string(rest().substr(0, bytes)));
    advance(bytes);
  }

  void take_number() {
    std::size_t bytes = 0;
    auto const digits = [&] {
      while (bytes < rest().size() && is_digit(rest()[bytes])) ++bytes;
    };
    digits();
    bool const is_real =
        bytes + 1 < rest().size() && rest()[bytes] == '.' && is_digit(rest()[bytes + 1]);
    if (is_real) ++bytes, digits();
    if (bytes < rest().size() && (is_name_start(rest()[bytes]))) fail("a number is not understood");
    add(is_real ? TokenKind::real : TokenKind::integer, std::string(rest().substr(0, bytes)));
    advance(bytes);
  }

  void take_string(char quote) {
    std::size_t bytes = 1;
    while (bytes < rest().size() && rest()[bytes] != quote) bytes += rest()[bytes] == '\\' ? 2 : 1;
    if (bytes >= rest().size()) fail("a string has no end");
    auto text = unescaped(rest().substr(1, bytes - 1));
    if (!text) fail("a string has an escape that is not understood");
    add(TokenKind::string, std::move(*text));
    advance(bytes + 1);
  }

  std::string const& m_path;
  std::string m_source;
  std::size_t m_at = 0;
  std::int64_t m_line = 1;
  bool m_is_line_start = true;  // says whether a line begins where the next text does
  std::string m_open;           // brackets of the tag that are open
  std::vector<Token> m_tokens;
};

}  // namespace

std::vector<Token> tokens_in(std::string_view source, std::string const& path) {
  return Lexer(source, path).run();
}

}  // namespace spillway::jinja
