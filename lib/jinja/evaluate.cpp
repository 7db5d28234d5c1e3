#include <stdexcept>
#include <utility>

#include "jinja/evaluator.hpp"
#include "jinja/filters.hpp"
#include "jinja/methods.hpp"
#include "jinja/operators.hpp"
#include "jinja/source.hpp"

namespace spillway::jinja {

Value Evaluator::value_of(Expression const& expression, ScopePtr const& scope) {
  count_step(expression.line);
  try {
    return evaluated(expression, scope);
  } catch (std::domain_error const& error) {
    refuse(m_path, expression.line, error.what());
  }
}

Value Evaluator::evaluated(Expression const& expression, ScopePtr const& scope) {
  auto const& parts = expression.parts;
  auto const part = [&](std::size_t i) { return value_of(*parts[i], scope); };
  switch (expression.kind) {
    case ExpressionKind::constant:
      return expression.constant;
    case ExpressionKind::name:
      return named(expression, scope);
    case ExpressionKind::list: {
      Elements elements;
      for (auto const& one : parts) elements.push_back(value_of(*one, scope));
      return list_value(std::move(elements));
    }
    case ExpressionKind::map:
      return map_of(expression, scope);
    case ExpressionKind::attribute:
      return attribute(expression, scope);
    case ExpressionKind::item:
      return item_of(part(0), part(1));
    case ExpressionKind::slice:
      return sliced(expression, scope);
    case ExpressionKind::call:
      return called(expression, scope);
    case ExpressionKind::filter:
      return filtered(expression.name, part(0), arguments_of(expression, scope));
    case ExpressionKind::test:
      return Value(tested(expression.name, part(0), arguments_of(expression, scope)));
    case ExpressionKind::negated:
      return Value(!is_true(part(0)));
    case ExpressionKind::minus:
      return negative(part(0));
    case ExpressionKind::plus:
      return negative(negative(part(0)));
    case ExpressionKind::binary:
      return binary(expression.name, part(0), part(1));
    case ExpressionKind::compare:
      return comparison(expression, scope);
    case ExpressionKind::both: {
      auto left = part(0);
      return is_true(left) ? part(1) : left;
    }
    case ExpressionKind::either: {
      auto left = part(0);
      return is_true(left) ? left : part(1);
    }
    case ExpressionKind::choice:
      if (is_true(part(1))) return part(0);
      return parts[2] == nullptr ? Value() : part(2);
  }
  return Value();
}

Value Evaluator::named(Expression const& expression, ScopePtr const& scope) const {
  auto const* const found = scope->find(expression.name);
  return found == nullptr ? builtin(expression.name) : *found;
}

Value Evaluator::attribute(Expression const& expression, ScopePtr const& scope) {
  auto const object = value_of(*expression.parts[0], scope);
  if (has_method(object, expression.name))
    fail(fmt::format("the method `{}` is not called", expression.name));
  return attribute_of(object, expression.name);
}

Value Evaluator::comparison(Expression const& expression, ScopePtr const& scope) {
  auto left = value_of(*expression.parts[0], scope);
  for (std::size_t i = 0; i < expression.names.size(); ++i) {
    auto right = value_of(*expression.parts[i + 1], scope);
    if (!compared(expression.names[i], left, right)) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Value Evaluator::sliced(Expression const& expression, ScopePtr const& scope) {
  auto const bound = [&](std::size_t i) -> std::optional<std::int64_t> {
    if (expression.parts[i] == nullptr) return {};
    auto const value = value_of(*expression.parts[i], scope);
    if (value.is<None>()) return {};
    return integer_of(value, "a bound of a slice");
  };
  auto const object = value_of(*expression.parts[0], scope);
  return slice_of(object, {bound(1), bound(2), bound(3).value_or(1)});
}

Value Evaluator::map_of(Expression const& expression, ScopePtr const& scope) {
  MapData map;
  for (std::size_t i = 0; i < expression.parts.size(); i += 2) {
    auto const key = text_of(value_of(*expression.parts[i], scope), "the name of an entry");
    if (find(map.entries, key) != nullptr) fail(fmt::format("a map has `{}` twice", key));
    map.entries.emplace_back(key, value_of(*expression.parts[i + 1], scope));
  }
  return Value(Map(std::make_shared<MapData const>(std::move(map))));
}

// Part 0 of the expression is what has the arguments; the last ones have names.
Arguments Evaluator::arguments_of(Expression const& expression, ScopePtr const& scope) {
  Arguments arguments;
  auto const unnamed = expression.parts.size() - 1 - expression.names.size();
  for (std::size_t i = 1; i < expression.parts.size(); ++i) {
    auto value = value_of(*expression.parts[i], scope);
    if (i <= unnamed)
      arguments.values.push_back(std::move(value));
    else
      arguments.named.emplace_back(expression.names[i - 1 - unnamed], std::move(value));
  }
  return arguments;
}

Value Evaluator::called(Expression const& expression, ScopePtr const& scope) {
  auto const& callee = *expression.parts[0];
  auto const arguments = arguments_of(expression, scope);
  if (callee.kind == ExpressionKind::attribute) {
    auto const object = value_of(*callee.parts[0], scope);
    if (has_method(object, callee.name)) return call_method(object, callee.name, arguments);
  }
  auto const function = value_of(callee, scope);
  if (auto const* const macro = function.get<Macro>()) return call_macro(**macro, arguments);
  if (auto const* const own = function.get<Builtin>()) return call_builtin(own->name, arguments);
  fail(fmt::format("{} is called", type_name(function)));
}

Value Evaluator::call_macro(MacroData const& macro, Arguments const& arguments) {
  constexpr int most_calls = 40;
  auto const& definition = *macro.definition;
  auto const& names = definition.names;
  arguments.require("macro " + definition.text, names);
  if (++m_calls > most_calls) fail("macros call each other too deeply");
  auto const own = std::make_shared<Scope>(Scope{macro.scope, {}});
  auto const without_default = names.size() - definition.values.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto const* const given = arguments.get(i, names[i].c_str());
    if (given != nullptr)
      own->variables[names[i]] = *given;
    else
      own->variables[names[i]] =
          i < without_default ? Value() : value_of(*definition.values[i - without_default], own);
  }
  auto text = captured(definition.body, own);
  --m_calls;
  return text_value(std::move(text));
}

}  // namespace spillway::jinja
