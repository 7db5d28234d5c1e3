// Evaluates expressions and runs statements of a template; only for this folder's sources.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jinja/arguments.hpp"
#include "jinja/scope.hpp"
#include "jinja/template.hpp"
#include "jinja/tree.hpp"

namespace spillway::jinja {

class Evaluator {
 public:
  // `path` is for messages.
  explicit Evaluator(std::string const& path) : m_path(path) {}

  // Runs the statements and returns what they print. Throws Error(bad_input) that begins with
  // `path` and a line if something is not understood.
  Rendered run(Body const& body, std::shared_ptr<Scope> scope);

 private:
  enum class Flow : std::uint8_t { on, stop, next };
  using ScopePtr = std::shared_ptr<Scope>;

  Flow run_body(Body const& body, ScopePtr const& scope);
  Flow run_statement(Statement const& statement, ScopePtr const& scope);
  Flow run_condition(Statement const& statement, ScopePtr const& scope);
  void run_loop(Statement const& statement, ScopePtr const& scope);
  void run_generation(Statement const& statement, ScopePtr const& scope);
  void assign(Statement const& statement, ScopePtr const& scope);
  std::string captured(Body const& body, ScopePtr const& scope);
  Elements taken(Statement const& loop, ScopePtr const& scope);
  void bind(Statement const& loop, Value const& element, Scope& scope) const;

  Value value_of(Expression const& expression, ScopePtr const& scope);
  Value evaluated(Expression const& expression, ScopePtr const& scope);
  Value named(Expression const& expression, ScopePtr const& scope) const;
  Value attribute(Expression const& expression, ScopePtr const& scope);
  Value called(Expression const& expression, ScopePtr const& scope);
  Value call_macro(MacroData const& macro, Arguments const& arguments);
  Value comparison(Expression const& expression, ScopePtr const& scope);
  Value sliced(Expression const& expression, ScopePtr const& scope);
  Value map_of(Expression const& expression, ScopePtr const& scope);
  Arguments arguments_of(Expression const& expression, ScopePtr const& scope);
  void count_step(std::int64_t line);

  std::string const& m_path;
  std::string m_out;
  std::vector<TextRange> m_generated;
  std::int64_t m_steps = 0;
  int m_captures = 0, m_calls = 0;
};

}  // namespace spillway::jinja
