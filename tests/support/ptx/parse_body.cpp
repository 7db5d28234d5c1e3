#include "tests/support/ptx/parse_body.hpp"

#include <algorithm>

#include "tests/support/ptx/parse_declaration.hpp"
#include "tests/support/ptx/parse_operand.hpp"
#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {
namespace {

std::vector<std::string> split_at_dots(std::string const& word) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first <= word.size();) {
    auto const dot = std::min(word.find('.', first), word.size());
    parts.push_back(word.substr(first, dot - first));
    first = dot + 1;
  }
  return parts;
}

std::string on_one_line(char const* first, char const* last) {
  std::string text;
  for (; first != last; ++first) {
    bool const is_blank = *first == ' ' || *first == '\t' || *first == '\n' || *first == '\r';
    if (!is_blank) text += *first;
    if (is_blank && !text.empty() && text.back() != ' ') text += ' ';
  }
  return text;
}

class Body {
 public:
  Body(Cursor& cursor, Kernel& kernel) : m_cursor(cursor), m_kernel(kernel), m_scopes(kernel) {}

  void parse_block() {
    m_cursor.expect("{");
    m_scopes.open();
    while (!m_cursor.takes("}")) parse_statement();
    m_scopes.close();
  }

 private:
  void parse_statement() {
    auto const& token = m_cursor.peek();
    if (m_cursor.at_end()) refuse(token.line, "the body of {} does not end", m_kernel.name);
    if (m_cursor.sees("{")) return parse_block();
    if (m_cursor.takes(";")) return;
    if (token.text.starts_with('.')) return parse_directive();
    if (m_cursor.peek(1).text == ":") return parse_label();
    parse_instruction();
  }

  void parse_directive() {
    auto const line = m_cursor.line();
    auto const word = m_cursor.word();
    if (word == ".reg") return parse_registers();
    if (word == ".local" || word == ".shared") {
      auto const space = word == ".local" ? Space::local : Space::shared;
      m_kernel.variables.push_back(parse_variable(m_cursor, space));
      return;
    }
    if (word == ".pragma") return m_cursor.skip_past(";");
    if (word != ".loc") refuse(line, "directive '{}' is not offered in a body", word);
    while (!m_cursor.at_end() && m_cursor.line() == line) m_cursor.next();
  }

  void parse_registers() {
    auto const line = m_cursor.line();
    auto const word = m_cursor.word();
    auto const type = type_named(std::string_view(word).substr(1));
    if (!word.starts_with('.') || type == Type::none)
      refuse(line, "registers of type '{}' are not offered", word);
    do {
      auto const name = m_cursor.word();
      if (!m_cursor.takes("<")) {
        m_scopes.add_register(name, type);
        continue;
      }
      auto const count = m_cursor.whole();
      for (std::int64_t i = 0; i < count; ++i)
        m_scopes.add_register(name + std::to_string(i), type);
      m_cursor.expect(">");
    } while (m_cursor.takes(","));
    m_cursor.expect(";");
  }

  void parse_label() {
    auto const line = m_cursor.line();
    auto const name = m_cursor.word();
    m_cursor.expect(":");
    m_scopes.add_label(name, line);
  }

  void parse_instruction() {
    Instruction result;
    result.line = m_cursor.line();
    auto const* const first = m_cursor.begin();
    if (m_cursor.takes("@")) {
      result.guard_is_negated = m_cursor.takes("!");
      result.guard = known_register(m_cursor.word(), result.line);
    }
    result.opcode = split_at_dots(m_cursor.word());
    if (result.opcode[0] == "call") refuse(result.line, "'call' is not offered");
    while (!m_cursor.sees(";")) {
      result.operands.push_back(parse_operand(m_cursor, m_scopes));
      if (!m_cursor.sees(";")) m_cursor.expect(",");
    }
    result.text = on_one_line(first, m_cursor.end_of_last());
    m_cursor.expect(";");
    if (result.opcode[0] == "bra") m_scopes.add_branch();
    m_kernel.instructions.push_back(std::move(result));
  }

  int known_register(std::string const& name, int line) const {
    auto const result = m_scopes.find_register(name);
    if (result < 0) refuse(line, "'{}' is no register", name);
    return result;
  }

  Cursor& m_cursor;
  Kernel& m_kernel;
  Scopes m_scopes;
};

}  // namespace

void parse_body(Cursor& cursor, Kernel& kernel) {
  Body(cursor, kernel).parse_block();
}

}  // namespace spillway::test::ptx
