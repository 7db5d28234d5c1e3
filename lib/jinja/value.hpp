// Values of templates, as Python has them; only for this folder's sources and those of
// template.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spillway::jinja {

struct Value;
struct Statement;
struct Scope;

struct Undefined {};
struct None {};
using Text = std::shared_ptr<std::string const>;
using Elements = std::vector<Value>;
using List = std::shared_ptr<Elements const>;
using Entries = std::vector<std::pair<std::string, Value>>;
struct MapData {
  Entries entries;
};
using Map = std::shared_ptr<MapData const>;
// A namespace can be assigned to.
struct NamespaceData {
  Entries entries;
};
using Namespace = std::shared_ptr<NamespaceData>;
struct LoopData {
  Entries entries;
};
using Loop = std::shared_ptr<LoopData const>;
struct MacroData {
  Statement const* definition;
  std::shared_ptr<Scope> scope;
};
using Macro = std::shared_ptr<MacroData const>;
// A function that every template has.
struct Builtin {
  std::string name;
};

struct Value {
  std::variant<Undefined, None, bool, std::int64_t, double, Text, List, Map, Namespace, Loop, Macro,
               Builtin>
      data;

  Value() = default;
  template <class T>
  explicit Value(T value) : data(std::move(value)) {}

  template <class T>
  T const* get() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(data);
  }
};

Value text_value(std::string text);
Value list_value(Elements elements);

// Returns what JSON says. Throws std::range_error for a number that Python would write otherwise.
Value value_of(nlohmann::ordered_json const& json);

// Returns the entry of a name, or null.
Value const* find(Entries const& entries, std::string const& name);

// Returns what Python calls a value's type, for messages.
char const* type_name(Value const& value);

// Throws std::domain_error, which says what is not understood. Whoever knows the line adds it.
[[noreturn]] void fail(std::string const& why);

bool is_true(Value const& value);
bool is_equal(Value const& one, Value const& other);

}  // namespace spillway::jinja
