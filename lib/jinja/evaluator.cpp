#include "jinja/evaluator.hpp"

#include <utility>

#include "jinja/operators.hpp"
#include "jinja/source.hpp"

namespace spillway::jinja {
namespace {

std::shared_ptr<Scope> inner(std::shared_ptr<Scope> around) {
  return std::make_shared<Scope>(Scope{std::move(around), {}});
}

// Returns what `loop` is for an element.
Value loop_of(Elements const& elements, std::size_t i) {
  auto const at = static_cast<std::int64_t>(i), count = std::ssize(elements);
  LoopData data{{{"index", Value(at + 1)},
                 {"index0", Value(at)},
                 {"revindex", Value(count - at)},
                 {"revindex0", Value(count - at - 1)},
                 {"first", Value(at == 0)},
                 {"last", Value(at + 1 == count)},
                 {"length", Value(count)},
                 {"previtem", at > 0 ? elements[i - 1] : Value()},
                 {"nextitem", at + 1 < count ? elements[i + 1] : Value()}}};
  return Value(Loop(std::make_shared<LoopData const>(std::move(data))));
}

}  // namespace

Rendered Evaluator::run(Body const& body, std::shared_ptr<Scope> scope) {
  run_body(body, scope);
  return {std::move(m_out), std::move(m_generated)};
}

// Templates may be a stranger's.
void Evaluator::count_step(std::int64_t line) {
  constexpr std::int64_t most_steps = 1'000'000;
  constexpr std::size_t most_bytes = std::size_t{1} << 31;
  if (++m_steps > most_steps || m_out.size() > most_bytes)
    refuse(m_path, line, "the template does not come to an end");
}

Evaluator::Flow Evaluator::run_body(Body const& body, ScopePtr const& scope) {
  for (auto const& statement : body) {
    count_step(statement.line);
    auto const flow = run_statement(statement, scope);
    if (flow != Flow::on) return flow;
  }
  return Flow::on;
}

Evaluator::Flow Evaluator::run_statement(Statement const& statement, ScopePtr const& scope) {
  switch (statement.kind) {
    case StatementKind::text:
      m_out += statement.text;
      break;
    case StatementKind::output:
      try {
        m_out += printed(value_of(*statement.value, scope));
      } catch (std::domain_error const& error) {
        refuse(m_path, statement.line, error.what());
      }
      break;
    case StatementKind::condition:
      return run_condition(statement, scope);
    case StatementKind::loop:
      run_loop(statement, scope);
      break;
    case StatementKind::assign:
      assign(statement, scope);
      break;
    case StatementKind::capture:
      scope->variables[statement.text] = text_value(captured(statement.body, inner(scope)));
      break;
    case StatementKind::macro:
      scope->variables[statement.text] =
          Value(Macro(std::make_shared<MacroData const>(MacroData{&statement, scope})));
      break;
    case StatementKind::generation:
      run_generation(statement, scope);
      break;
    case StatementKind::stop:
      return Flow::stop;
    case StatementKind::next:
      return Flow::next;
  }
  return Flow::on;
}

Evaluator::Flow Evaluator::run_condition(Statement const& statement, ScopePtr const& scope) {
  for (auto const& [test, body] : statement.branches)
    if (test == nullptr || is_true(value_of(*test, scope))) return run_body(body, scope);
  return Flow::on;
}

Elements Evaluator::taken(Statement const& loop, ScopePtr const& scope) {
  Elements elements;
  try {
    elements = elements_of(value_of(*loop.value, scope));
  } catch (std::domain_error const& error) {
    refuse(m_path, loop.line, error.what());
  }
  if (!loop.test) return elements;
  Elements some;
  for (auto& one : elements) {
    auto const own = inner(scope);
    bind(loop, one, *own);
    if (is_true(value_of(*loop.test, own))) some.push_back(std::move(one));
  }
  return some;
}

void Evaluator::bind(Statement const& loop, Value const& element, Scope& scope) const {
  if (loop.names.size() == 1) {
    scope.variables[loop.names[0]] = element;
    return;
  }
  auto const* const parts = element.get<List>();
  if (parts == nullptr || (*parts)->size() != loop.names.size())
    refuse(m_path, loop.line, fmt::format("an element has not {} parts", loop.names.size()));
  for (std::size_t i = 0; i < loop.names.size(); ++i) scope.variables[loop.names[i]] = (**parts)[i];
}

void Evaluator::run_loop(Statement const& statement, ScopePtr const& scope) {
  auto const elements = taken(statement, scope);
  bool has_ended = false;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    count_step(statement.line);
    auto const own = inner(scope);
    own->variables["loop"] = loop_of(elements, i);
    bind(statement, elements[i], *own);
    auto const flow = run_body(statement.body, own);
    has_ended = has_ended || flow == Flow::on;
    if (flow == Flow::stop) break;
  }
  // Jinja takes `else` also where no element came to the end of the body.
  if (!has_ended) run_body(statement.otherwise, inner(scope));
}

void Evaluator::run_generation(Statement const& statement, ScopePtr const& scope) {
  if (m_captures > 0)
    refuse(m_path, statement.line, "`{% generation %}` in a macro or in `set` is not known here");
  auto const begin = m_out.size();
  run_body(statement.body, inner(scope));
  m_generated.push_back({begin, m_out.size()});
}

void Evaluator::assign(Statement const& statement, ScopePtr const& scope) {
  auto value = value_of(*statement.value, scope);
  if (statement.attribute.empty()) {
    scope->variables[statement.text] = std::move(value);
    return;
  }
  auto const* const found = scope->find(statement.text);
  auto const* const names = found == nullptr ? nullptr : found->get<Namespace>();
  if (names == nullptr)
    refuse(m_path, statement.line, fmt::format("`{}` is no namespace", statement.text));
  for (auto& [name, old] : (*names)->entries) {
    if (name != statement.attribute) continue;
    old = std::move(value);
    return;
  }
  (*names)->entries.emplace_back(statement.attribute, std::move(value));
}

std::string Evaluator::captured(Body const& body, ScopePtr const& scope) {
  ++m_captures;
  auto before = std::exchange(m_out, "");
  run_body(body, scope);
  --m_captures;
  return std::exchange(m_out, std::move(before));
}

}  // namespace spillway::jinja
