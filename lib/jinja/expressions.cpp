#include "jinja/expressions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <string_view>

namespace spillway::jinja {
namespace {

ExpressionPtr node(ExpressionKind kind, std::int64_t line, std::string name = "") {
  auto made = std::make_unique<Expression>();
  made->kind = kind;
  made->line = line;
  made->name = std::move(name);
  return made;
}

ExpressionPtr constant(std::int64_t line, Value value) {
  auto made = node(ExpressionKind::constant, line);
  made->constant = std::move(value);
  return made;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : m_tokens(tokens) {}

  ExpressionPtr choice() {
    Depth const depth(*this);
    auto value = either();
    while (m_tokens.is_name("if")) {
      auto made = node(ExpressionKind::choice, m_tokens.take().line);
      auto condition = either();
      ExpressionPtr other;
      if (m_tokens.takes_name("else")) other = choice();
      made->parts.push_back(std::move(value));
      made->parts.push_back(std::move(condition));
      made->parts.push_back(std::move(other));
      value = std::move(made);
    }
    return value;
  }

  ExpressionPtr either() { return logical("or", ExpressionKind::either, &ExpressionParser::both); }

 private:
  using Parse = ExpressionPtr (ExpressionParser::*)();
  static constexpr int kMostDepth = 100;

  struct Depth {
    explicit Depth(ExpressionParser& owner) : parser(owner) {
      if (++parser.m_depth > kMostDepth) parser.m_tokens.fail("is nested too deeply");
    }
    ~Depth() { --parser.m_depth; }
    ExpressionParser& parser;
  };

  ExpressionPtr pair(ExpressionKind kind, ExpressionPtr left, Parse right) {
    auto const token = m_tokens.take();
    auto made = node(kind, token.line, token.text);
    made->parts.push_back(std::move(left));
    made->parts.push_back((this->*right)());
    return made;
  }

  // Takes operands that stand between names or symbols of equal rank. The left ones come first.
  ExpressionPtr logical(std::string_view name, ExpressionKind kind, Parse operand) {
    auto left = (this->*operand)();
    while (m_tokens.is_name(name)) left = pair(kind, std::move(left), operand);
    return left;
  }
  ExpressionPtr binary(std::initializer_list<std::string_view> symbols, Parse operand) {
    auto left = (this->*operand)();
    while (std::ranges::any_of(symbols, [&](auto symbol) { return m_tokens.is_symbol(symbol); }))
      left = pair(ExpressionKind::binary, std::move(left), operand);
    return left;
  }

  ExpressionPtr both() { return logical("and", ExpressionKind::both, &ExpressionParser::negated); }

  ExpressionPtr negated() {
    Depth const depth(*this);
    if (!m_tokens.is_name("not")) return comparison();
    auto made = node(ExpressionKind::negated, m_tokens.take().line);
    made->parts.push_back(negated());
    return made;
  }

  // Takes an operator that compares, or returns "".
  std::string comparing() {
    constexpr std::array<std::string_view, 6> symbols = {"==", "!=", "<", ">", "<=", ">="};
    if (m_tokens.is(TokenKind::symbol) &&
        std::ranges::find(symbols, m_tokens.peek().text) != symbols.end())
      return m_tokens.take().text;
    if (m_tokens.takes_name("in")) return "in";
    if (!m_tokens.is_name("not") || !m_tokens.is_second_name("in")) return "";
    m_tokens.take();
    m_tokens.take();
    return "not in";
  }

  ExpressionPtr comparison() {
    auto const line = m_tokens.line();
    auto left = sum();
    auto symbol = comparing();
    if (symbol.empty()) return left;
    auto made = node(ExpressionKind::compare, line);
    made->parts.push_back(std::move(left));
    for (; !symbol.empty(); symbol = comparing()) {
      made->names.push_back(symbol);
      made->parts.push_back(sum());
    }
    return made;
  }

  ExpressionPtr sum() { return binary({"+", "-"}, &ExpressionParser::joined); }

  ExpressionPtr joined() { return binary({"~"}, &ExpressionParser::product); }

  ExpressionPtr product() { return binary({"*", "/", "//", "%"}, &ExpressionParser::power); }

  ExpressionPtr power() { return binary({"**"}, &ExpressionParser::with_filters); }

  ExpressionPtr with_filters() {
    auto value = signed_value();
    while (true) {
      if (m_tokens.is_symbol("|")) {
        value = filter(std::move(value));
      } else if (m_tokens.is_name("is")) {
        value = test(std::move(value));
      } else if (m_tokens.is_symbol("(")) {
        value = call(std::move(value));
      } else {
        return value;
      }
    }
  }

  ExpressionPtr signed_value() {
    Depth const depth(*this);
    if (!m_tokens.is_symbol("-") && !m_tokens.is_symbol("+")) return with_postfixes(primary());
    auto const token = m_tokens.take();
    auto made = node(token.text == "-" ? ExpressionKind::minus : ExpressionKind::plus, token.line);
    made->parts.push_back(signed_value());
    return made;
  }

  ExpressionPtr with_postfixes(ExpressionPtr value) {
    while (true) {
      if (m_tokens.is_symbol(".")) {
        auto const line = m_tokens.take().line;
        auto made = node(ExpressionKind::attribute, line, m_tokens.expect_name());
        made->parts.push_back(std::move(value));
        value = std::move(made);
      } else if (m_tokens.is_symbol("[")) {
        value = subscript(std::move(value));
      } else if (m_tokens.is_symbol("(")) {
        value = call(std::move(value));
      } else {
        return value;
      }
    }
  }

  ExpressionPtr subscript(ExpressionPtr object) {
    auto made = node(ExpressionKind::item, m_tokens.take().line);
    made->parts.push_back(std::move(object));
    auto const bound = [&] {
      bool const is_open = m_tokens.is_symbol(":") || m_tokens.is_symbol("]");
      made->parts.push_back(is_open ? nullptr : choice());
    };
    bound();
    while (m_tokens.takes_symbol(":") && made->parts.size() < 4) {
      made->kind = ExpressionKind::slice;
      bound();
    }
    if (made->kind == ExpressionKind::item && made->parts[1] == nullptr)
      m_tokens.fail("a key is missing");
    if (made->kind == ExpressionKind::slice) made->parts.resize(4);
    m_tokens.expect_symbol("]");
    return made;
  }

  // Appends the arguments in brackets.
  void arguments(Expression& to) {
    m_tokens.expect_symbol("(");
    while (!m_tokens.takes_symbol(")")) {
      bool const is_named = m_tokens.is(TokenKind::name) && m_tokens.is_second_symbol("=");
      if (is_named) {
        to.names.push_back(m_tokens.take().text);
        m_tokens.take();
      } else if (!to.names.empty()) {
        m_tokens.fail("an argument without a name follows one with a name");
      }
      to.parts.push_back(choice());
      if (!m_tokens.is_symbol(")")) m_tokens.expect_symbol(",");
    }
  }

  ExpressionPtr call(ExpressionPtr callee) {
    auto made = node(ExpressionKind::call, m_tokens.line());
    made->parts.push_back(std::move(callee));
    arguments(*made);
    return made;
  }

  ExpressionPtr filter(ExpressionPtr value) {
    auto const line = m_tokens.take().line;
    auto made = node(ExpressionKind::filter, line, m_tokens.expect_name());
    made->parts.push_back(std::move(value));
    if (m_tokens.is_symbol("(")) arguments(*made);
    return made;
  }

  ExpressionPtr test(ExpressionPtr value) {
    auto const line = m_tokens.take().line;
    bool const is_not = m_tokens.takes_name("not");
    auto made = node(ExpressionKind::test, line, m_tokens.expect_name());
    made->parts.push_back(std::move(value));
    if (m_tokens.is_symbol("("))
      arguments(*made);
    else if (begins_argument())
      made->parts.push_back(with_postfixes(primary()));
    if (!is_not) return made;
    auto whole = node(ExpressionKind::negated, line);
    whole->parts.push_back(std::move(made));
    return whole;
  }

  // A test may have one argument without brackets.
  bool begins_argument() const {
    if (m_tokens.is(TokenKind::name))
      return !m_tokens.is_name("else") && !m_tokens.is_name("or") && !m_tokens.is_name("and") &&
             !m_tokens.is_name("if") && !m_tokens.is_name("is") && !m_tokens.is_name("not") &&
             !m_tokens.is_name("in");
    return m_tokens.is(TokenKind::string) || m_tokens.is(TokenKind::integer) ||
           m_tokens.is(TokenKind::real) || m_tokens.is_symbol("[") || m_tokens.is_symbol("{");
  }

  ExpressionPtr primary() {
    auto const line = m_tokens.line();
    if (m_tokens.is(TokenKind::string)) {
      std::string text;  // literals that follow each other are one
      while (m_tokens.is(TokenKind::string)) text += m_tokens.take().text;
      return constant(line, text_value(std::move(text)));
    }
    if (m_tokens.is(TokenKind::integer) || m_tokens.is(TokenKind::real)) return number();
    if (m_tokens.is(TokenKind::name)) return name();
    if (m_tokens.takes_symbol("(")) return bracketed();
    if (m_tokens.is_symbol("[")) return list();
    if (m_tokens.is_symbol("{")) return map();
    m_tokens.fail("an expression is not understood");
  }

  ExpressionPtr name() {
    auto const token = m_tokens.take();
    auto const& text = token.text;
    if (text == "true" || text == "True") return constant(token.line, Value(true));
    if (text == "false" || text == "False") return constant(token.line, Value(false));
    if (text == "none" || text == "None") return constant(token.line, Value(None{}));
    return node(ExpressionKind::name, token.line, text);
  }

  ExpressionPtr number() {
    auto const token = m_tokens.peek();
    auto const* const begin = token.text.data();
    auto const* const end = begin + token.text.size();
    std::int64_t integer = 0;
    double real = 0;
    bool const is_real = token.kind == TokenKind::real;
    auto const read =
        is_real ? std::from_chars(begin, end, real) : std::from_chars(begin, end, integer);
    if (read.ec != std::errc() || read.ptr != end) m_tokens.fail("a number is not understood");
    m_tokens.take();
    return constant(token.line, is_real ? Value(real) : Value(integer));
  }

  ExpressionPtr bracketed() {
    auto first = choice();
    if (m_tokens.takes_symbol(")")) return first;
    auto made = node(ExpressionKind::list, first->line);
    made->parts.push_back(std::move(first));
    while (!m_tokens.takes_symbol(")")) {
      m_tokens.expect_symbol(",");
      if (!m_tokens.is_symbol(")")) made->parts.push_back(choice());
    }
    return made;
  }

  ExpressionPtr list() {
    auto made = node(ExpressionKind::list, m_tokens.take().line);
    while (!m_tokens.takes_symbol("]")) {
      made->parts.push_back(choice());
      if (!m_tokens.is_symbol("]")) m_tokens.expect_symbol(",");
    }
    return made;
  }

  ExpressionPtr map() {
    auto made = node(ExpressionKind::map, m_tokens.take().line);
    while (!m_tokens.takes_symbol("}")) {
      made->parts.push_back(choice());
      m_tokens.expect_symbol(":");
      made->parts.push_back(choice());
      if (!m_tokens.is_symbol("}")) m_tokens.expect_symbol(",");
    }
    return made;
  }

  TokenStream& m_tokens;
  int m_depth = 0;
};

}  // namespace

ExpressionPtr parse_expression(TokenStream& tokens, bool with_choice) {
  ExpressionParser parser(tokens);
  return with_choice ? parser.choice() : parser.either();
}

ExpressionPtr parse_tuple(TokenStream& tokens, bool with_choice) {
  auto first = parse_expression(tokens, with_choice);
  if (!tokens.is_symbol(",")) return first;
  auto made = node(ExpressionKind::list, first->line);
  made->parts.push_back(std::move(first));
  while (tokens.takes_symbol(",")) {
    if (tokens.is(TokenKind::block_end) || tokens.is(TokenKind::output_end)) break;
    made->parts.push_back(parse_expression(tokens, with_choice));
  }
  return made;
}

}  // namespace spillway::jinja
