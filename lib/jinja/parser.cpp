#include "jinja/parser.hpp"

#include <algorithm>
#include <span>

#include "jinja/expressions.hpp"
#include "jinja/token_stream.hpp"

namespace spillway::jinja {
namespace {

class Parser {
 public:
  explicit Parser(TokenStream& tokens) : m_tokens(tokens) {}

  Body run() {
    auto body = body_until({});
    if (!m_tokens.is(TokenKind::end)) m_tokens.fail("the end of a block that is not open");
    return body;
  }

 private:
  static constexpr int kMostDepth = 50;

  // Parses statements until a block tag with one of these names, of which the name comes next.
  Body body_until(std::vector<std::string_view> const& ends) {
    if (++m_depth > kMostDepth) m_tokens.fail("is nested too deeply");
    Body body;
    while (!m_tokens.is(TokenKind::end)) {
      auto const token = m_tokens.take();
      if (token.kind == TokenKind::text) {
        body.push_back({.kind = StatementKind::text, .line = token.line, .text = token.text});
      } else if (token.kind == TokenKind::output_begin) {
        body.push_back({.kind = StatementKind::output, .line = token.line});
        body.back().value = parse_tuple(m_tokens);
        m_tokens.expect(TokenKind::output_end, "`}}` is missing");
      } else if (std::ranges::find(ends, m_tokens.peek().text) != ends.end()) {
        --m_depth;
        return body;
      } else {
        body.push_back(block());
      }
    }
    if (!ends.empty()) m_tokens.fail(fmt::format("`{}` is missing", ends.back()));
    --m_depth;
    return body;
  }

  void end_tag() { m_tokens.expect(TokenKind::block_end, "`%}` is missing"); }
  void end_block(std::string_view name) {
    if (!m_tokens.takes_name(name)) m_tokens.fail(fmt::format("`{}` is missing", name));
    end_tag();
  }

  Statement block() {
    auto const line = m_tokens.line();
    auto const name = m_tokens.expect_name();
    Statement made{.kind = StatementKind::text, .line = line};
    if (name == "if")
      condition(made);
    else if (name == "for")
      loop(made);
    else if (name == "set")
      assign(made);
    else if (name == "macro")
      macro(made);
    else if (name == "generation")
      generation(made);
    else if (name == "break" || name == "continue")
      leave(made, name);
    else
      m_tokens.fail(fmt::format("`{{% {} %}}` is not known here", name));
    return made;
  }

  void condition(Statement& made) {
    made.kind = StatementKind::condition;
    while (true) {
      auto test = parse_tuple(m_tokens, false);
      end_tag();
      made.branches.push_back({std::move(test), body_until({"elif", "else", "endif"})});
      if (!m_tokens.takes_name("elif")) break;
    }
    if (m_tokens.takes_name("else")) {
      end_tag();
      made.branches.push_back({nullptr, body_until({"endif"})});
    }
    end_block("endif");
  }

  void loop(Statement& made) {
    made.kind = StatementKind::loop;
    bool const has_brackets = m_tokens.takes_symbol("(");
    do made.names.push_back(m_tokens.expect_name());
    while (m_tokens.takes_symbol(","));
    if (has_brackets) m_tokens.expect_symbol(")");
    if (!m_tokens.takes_name("in")) m_tokens.fail("`in` is missing");
    made.value = parse_tuple(m_tokens, false);
    if (m_tokens.takes_name("if")) made.test = parse_expression(m_tokens);
    if (m_tokens.is_name("recursive")) m_tokens.fail("recursive loops are not known here");
    end_tag();
    ++m_loops;
    made.body = body_until({"else", "endfor"});
    --m_loops;
    if (m_tokens.takes_name("else")) {
      end_tag();
      made.otherwise = body_until({"endfor"});
    }
    end_block("endfor");
  }

  void assign(Statement& made) {
    made.text = m_tokens.expect_name();
    if (m_tokens.takes_symbol(".")) made.attribute = m_tokens.expect_name();
    if (m_tokens.is(TokenKind::block_end)) {
      if (!made.attribute.empty()) m_tokens.fail("what is captured cannot go to a namespace here");
      made.kind = StatementKind::capture;
      end_tag();
      made.body = body_until({"endset"});
      return end_block("endset");
    }
    made.kind = StatementKind::assign;
    m_tokens.expect_symbol("=");
    made.value = parse_tuple(m_tokens);
    end_tag();
  }

  void macro(Statement& made) {
    made.kind = StatementKind::macro;
    made.text = m_tokens.expect_name();
    m_tokens.expect_symbol("(");
    while (!m_tokens.takes_symbol(")")) {
      made.names.push_back(m_tokens.expect_name());
      if (m_tokens.takes_symbol("="))
        made.values.push_back(parse_expression(m_tokens));
      else if (!made.values.empty())
        m_tokens.fail("a parameter without a default follows one with a default");
      if (!m_tokens.is_symbol(")")) m_tokens.expect_symbol(",");
    }
    end_tag();
    auto const loops = std::exchange(m_loops, 0);
    made.body = body_until({"endmacro"});
    m_loops = loops;
    end_block("endmacro");
  }

  void generation(Statement& made) {
    made.kind = StatementKind::generation;
    end_tag();
    auto const loops = std::exchange(m_loops, 0);
    made.body = body_until({"endgeneration"});
    m_loops = loops;
    end_block("endgeneration");
  }

  void leave(Statement& made, std::string const& name) {
    made.kind = name == "break" ? StatementKind::stop : StatementKind::next;
    if (m_loops == 0) m_tokens.fail(fmt::format("`{}` outside of a loop", name));
    end_tag();
  }

  TokenStream& m_tokens;
  int m_depth = 0, m_loops = 0;
};

}  // namespace

Body parsed(std::string_view source, std::string const& path) {
  TokenStream tokens(tokens_in(source, path), path);
  return Parser(tokens).run();
}

}  // namespace spillway::jinja
