#include "jinja/template.hpp"

#include <algorithm>
#include <stdexcept>

#include "jinja/evaluator.hpp"
#include "jinja/parser.hpp"
#include "jinja/scope.hpp"
#include "jinja/source.hpp"
#include "jinja/value.hpp"

namespace spillway::jinja {

struct Template::Tree {
  Body body;
};

namespace {

bool has(Body const& body, StatementKind kind) {
  return std::ranges::any_of(body, [&](Statement const& one) {
    return one.kind == kind || has(one.body, kind) || has(one.otherwise, kind) ||
           std::ranges::any_of(one.branches,
                               [&](Branch const& branch) { return has(branch.body, kind); });
  });
}

// Macros refer to the scope that they are in, which would keep it for ever.
struct EndOfScope {
  Scope& scope;
  ~EndOfScope() { scope.variables.clear(); }
};

}  // namespace

Template::Template(std::string_view source, std::string path)
    : m_path(std::move(path)), m_tree(std::make_unique<Tree>(Tree{parsed(source, m_path)})) {
  m_has_generation = has(m_tree->body, StatementKind::generation);
}
Template::~Template() = default;
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;

Rendered Template::render(nlohmann::ordered_json const& variables) const {
  auto const scope = std::make_shared<Scope>();
  EndOfScope const end{*scope};
  try {
    for (auto const& [name, value] : variables.items()) scope->variables[name] = value_of(value);
  } catch (std::range_error const& error) {
    refuse(m_path, 1, error.what());
  }
  return Evaluator(m_path).run(m_tree->body, scope);
}

}  // namespace spillway::jinja
