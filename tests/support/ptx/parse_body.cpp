#include "tests/support/ptx/parse_body.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "tests/support/ptx/parse_declaration.hpp"
#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {
namespace {

// Names of registers and labels are known from their declaration to the end of their braces.
struct Scope {
  std::map<std::string, int> registers, labels;
  std::vector<std::size_t> branches;  // whose labels are not found yet
};

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
  Body(Cursor& cursor, Kernel& kernel) : m_cursor(cursor), m_kernel(kernel) {}

  void parse_block() {
    m_cursor.expect("{");
    m_scopes.emplace_back();
    while (!m_cursor.takes("}")) parse_statement();
    close_scope();
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
        add_register(name, type);
        continue;
      }
      auto const count = m_cursor.whole();
      for (std::int64_t i = 0; i < count; ++i) add_register(name + std::to_string(i), type);
      m_cursor.expect(">");
    } while (m_cursor.takes(","));
    m_cursor.expect(";");
  }
  void add_register(std::string const& name, Type type) {
    m_scopes.back().registers[name] = static_cast<int>(m_kernel.registers.size());
    m_kernel.registers.push_back({name, type});
  }

  void parse_label() {
    auto const line = m_cursor.line();
    auto const name = m_cursor.word();
    m_cursor.expect(":");
    auto const at = static_cast<int>(m_kernel.instructions.size());
    if (!m_scopes.back().labels.emplace(name, at).second) refuse(line, "label {} is twice", name);
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
      result.operands.push_back(parse_operand());
      if (!m_cursor.sees(";")) m_cursor.expect(",");
    }
    result.text = on_one_line(first, m_cursor.end_of_last());
    m_cursor.expect(";");
    if (result.opcode[0] == "bra") m_scopes.back().branches.push_back(m_kernel.instructions.size());
    m_kernel.instructions.push_back(std::move(result));
  }

  int find_register(std::string const& name) const {
    for (auto scope = m_scopes.rbegin(); scope != m_scopes.rend(); ++scope)
      if (auto const found = scope->registers.find(name); found != scope->registers.end())
        return found->second;
    return -1;
  }
  int known_register(std::string const& name, int line) const {
    auto const result = find_register(name);
    if (result < 0) refuse(line, "'{}' is no register", name);
    return result;
  }

  Operand parse_operand() {
    auto result = parse_simple_operand();
    if (!m_cursor.takes("|")) return result;
    Operand pair{.form = Operand::Form::list};
    pair.list = {std::move(result), parse_simple_operand()};
    return pair;
  }

  Operand parse_simple_operand() {
    if (m_cursor.takes("{")) return parse_list();
    if (m_cursor.takes("[")) return parse_address();
    if (m_cursor.sees_number()) {
      auto const number = m_cursor.number();
      return {.form = Operand::Form::number, .bits = number.bits, .literal = number.type};
    }
    bool const is_negated = m_cursor.takes("!");
    auto result = parse_name();
    if (is_negated && result.form != Operand::Form::reg)
      refuse(m_cursor.line(), "only a predicate may be negated");
    result.is_negated = is_negated;
    return result;
  }

  Operand parse_list() {
    Operand result{.form = Operand::Form::list};
    do result.list.push_back(parse_simple_operand());
    while (m_cursor.takes(","));
    m_cursor.expect("}");
    return result;
  }

  Operand parse_address() {
    Operand result{.form = Operand::Form::address};
    if (!m_cursor.sees_number()) {
      auto const base = parse_name();
      result.reg = base.reg;
      result.name = base.name;
      result.offset = base.offset;
    } else {
      result.offset = m_cursor.whole();
    }
    m_cursor.expect("]");
    return result;
  }

  // A register, a special register, _, or a symbol; + or - and a number may follow.
  Operand parse_name() {
    auto const name = m_cursor.word();
    Operand result{.name = name};
    if (name == "_") return result;
    result.reg = find_register(name);
    result.form = result.reg >= 0         ? Operand::Form::reg
                  : name.starts_with('%') ? Operand::Form::special
                                          : Operand::Form::symbol;
    if (result.form != Operand::Form::symbol) result.name = result.reg >= 0 ? "" : name;
    if (m_cursor.takes("+"))
      result.offset = m_cursor.whole();
    else if (m_cursor.sees("-"))
      result.offset = m_cursor.whole();
    return result;
  }

  // Branches whose labels are not among those of the scope may mean labels around it.
  void close_scope() {
    auto scope = std::move(m_scopes.back());
    m_scopes.pop_back();
    for (auto const branch : scope.branches) {
      auto& instruction = m_kernel.instructions[branch];
      if (instruction.operands.size() != 1) refuse(instruction.line, "a branch has one label");
      auto const& label = instruction.operands[0].name;
      auto const found = scope.labels.find(label);
      if (found != scope.labels.end())
        instruction.target = found->second;
      else if (m_scopes.empty())
        refuse(instruction.line, "no label is '{}'", label);
      else
        m_scopes.back().branches.push_back(branch);
    }
  }

  Cursor& m_cursor;
  Kernel& m_kernel;
  std::vector<Scope> m_scopes;
};

}  // namespace

void parse_body(Cursor& cursor, Kernel& kernel) {
  Body(cursor, kernel).parse_block();
}

}  // namespace spillway::test::ptx
