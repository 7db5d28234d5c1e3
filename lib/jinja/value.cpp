#include "jinja/value.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace spillway::jinja {
namespace {

using Json = nlohmann::ordered_json;

Value number_of(Json const& json) {
  if (json.is_number_float()) {
    // An integer beyond 64 bits has become such a number, too, and Python writes all its digits.
    constexpr double most = 9.2e18;
    if (std::abs(json.get<double>()) > most) throw std::range_error("a number is too large");
    return Value(json.get<double>());
  }
  bool const fits = !json.is_number_unsigned() ||
                    json.get<std::uint64_t>() <=
                        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!fits) throw std::range_error("a number is too large");
  return Value(json.get<std::int64_t>());
}

// Returns a number, or nothing if the value is none; True and False are 1 and 0.
bool as_number(Value const& value, double& number) {
  if (auto const* const flag = value.get<bool>())
    number = *flag ? 1 : 0;
  else if (auto const* const integer = value.get<std::int64_t>())
    number = static_cast<double>(*integer);
  else if (auto const* const real = value.get<double>())
    number = *real;
  else
    return false;
  return true;
}

bool are_equal(Entries const& one, Entries const& other) {
  if (one.size() != other.size()) return false;
  for (auto const& [name, value] : one) {
    auto const* const found = find(other, name);
    if (found == nullptr || !is_equal(value, *found)) return false;
  }
  return true;
}

bool are_equal(Elements const& one, Elements const& other) {
  if (one.size() != other.size()) return false;
  for (std::size_t i = 0; i < one.size(); ++i)
    if (!is_equal(one[i], other[i])) return false;
  return true;
}

}  // namespace

Value text_value(std::string text) {
  return Value(Text(std::make_shared<std::string const>(std::move(text))));
}

Value list_value(Elements elements) {
  return Value(List(std::make_shared<Elements const>(std::move(elements))));
}

Value value_of(Json const& json) {
  if (json.is_null()) return Value(None{});
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number()) return number_of(json);
  if (json.is_string()) return text_value(json.get<std::string>());
  if (json.is_array()) {
    Elements elements;
    for (auto const& one : json) elements.push_back(value_of(one));
    return list_value(std::move(elements));
  }
  MapData map;
  for (auto const& [name, one] : json.items()) map.entries.emplace_back(name, value_of(one));
  return Value(Map(std::make_shared<MapData const>(std::move(map))));
}

Value const* find(Entries const& entries, std::string const& name) {
  for (auto const& [one, value] : entries)
    if (one == name) return &value;
  return nullptr;
}

char const* type_name(Value const& value) {
  constexpr char const* names[] = {"undefined",   "none",   "a truth value", "a number",
                                   "a number",    "a text", "a list",        "a map",
                                   "a namespace", "a loop", "a macro",       "a function"};
  return names[value.data.index()];
}

void fail(std::string const& why) {
  throw std::domain_error(why);
}

bool is_true(Value const& value) {
  double number = 0;
  if (as_number(value, number)) return number != 0;
  if (auto const* const text = value.get<Text>()) return !(*text)->empty();
  if (auto const* const list = value.get<List>()) return !(*list)->empty();
  if (auto const* const map = value.get<Map>()) return !(*map)->entries.empty();
  return !value.is<Undefined>() && !value.is<None>();
}

bool is_equal(Value const& one, Value const& other) {
  if (one.is<std::int64_t>() && other.is<std::int64_t>())
    return *one.get<std::int64_t>() == *other.get<std::int64_t>();
  double first = 0, second = 0;
  bool const is_number = as_number(one, first);
  if (is_number != as_number(other, second)) return false;
  if (is_number) return first == second;
  if (one.data.index() != other.data.index()) return false;
  if (auto const* const text = one.get<Text>()) return **text == **other.get<Text>();
  if (auto const* const list = one.get<List>()) return are_equal(**list, **other.get<List>());
  if (auto const* const map = one.get<Map>())
    return are_equal((*map)->entries, (*other.get<Map>())->entries);
  return one.is<None>() || one.is<Undefined>();
}

}  // namespace spillway::jinja
