// A template as a plain tree; only for this folder's sources.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jinja/value.hpp"

namespace spillway::jinja {

enum class ExpressionKind : std::uint8_t {
  constant,
  name,
  list,       // parts are its elements
  map,        // parts are key, value, key, value, ..
  attribute,  // part 0 is the object, `name` the attribute
  item,       // part 0 is the object, part 1 the key
  slice,      // parts are object, begin, end and step; the last three may be null
  call,       // part 0 is what is called; then arguments
  filter,     // `name`, of part 0; then arguments
  test,       // `name`, of part 0; then arguments
  negated,    // not
  minus,
  plus,
  binary,   // `name` is + - * / // % ** or ~
  compare,  // parts are operands, `names` what stands between them
  both,     // and
  either,   // or
  choice    // parts are value, condition and the other value, which may be null
};

struct Expression {
  ExpressionKind kind;
  std::int64_t line = 0;
  std::string name = {};
  Value constant = {};
  std::vector<std::unique_ptr<Expression>> parts = {};
  // Of compare: the operators. Of calls, filters and tests: the names of the last arguments.
  std::vector<std::string> names = {};
};
using ExpressionPtr = std::unique_ptr<Expression>;

enum class StatementKind : std::uint8_t {
  text,
  output,
  condition,  // branches with `test`s, the last of which may be null
  loop,
  assign,
  capture,  // {% set x %} .. {% endset %}
  macro,
  generation,
  stop,  // break
  next   // continue
};

struct Statement;
using Body = std::vector<Statement>;

struct Branch {
  ExpressionPtr test;  // null: else
  Body body;
};

struct Statement {
  StatementKind kind;
  std::int64_t line = 0;
  std::string text = {};                   // of a text; the name of a macro, or of what is assigned
  std::string attribute = {};              // of the namespace `text` that is assigned to
  std::vector<std::string> names = {};     // of a loop's variables, or of a macro's parameters
  std::vector<ExpressionPtr> values = {};  // defaults of the last parameters
  ExpressionPtr value = {};                // what is printed, assigned or looped over
  ExpressionPtr test = {};                 // which elements a loop takes; may be null
  std::vector<Branch> branches = {};       // of a condition
  Body body = {}, otherwise = {};          // otherwise: of a loop without elements
};

}  // namespace spillway::jinja
