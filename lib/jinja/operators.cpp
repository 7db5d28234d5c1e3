#include "jinja/operators.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "jinja/python_text.hpp"

namespace spillway::jinja {
namespace {

// A truth value is a number, as in Python.
std::optional<double> real_in(Value const& value) {
  if (auto const* const flag = value.get<bool>()) return *flag ? 1 : 0;
  if (auto const* const integer = value.get<std::int64_t>()) return static_cast<double>(*integer);
  if (auto const* const real = value.get<double>()) return *real;
  return {};
}

std::optional<std::int64_t> integer_in(Value const& value) {
  if (auto const* const flag = value.get<bool>()) return *flag ? 1 : 0;
  if (auto const* const integer = value.get<std::int64_t>()) return *integer;
  return {};
}

[[noreturn]] void overflow() {
  fail("a number is too large");
}

Value of_integers(std::string const& symbol, std::int64_t one, std::int64_t other) {
  std::int64_t result = 0;
  bool const divides = symbol == "//" || symbol == "%";
  if (divides && other == 0) fail("a division by zero");
  if (divides && other == -1) return symbol == "%" ? Value(std::int64_t{0}) : negative(Value(one));
  if (symbol == "+" && __builtin_add_overflow(one, other, &result)) overflow();
  if (symbol == "-" && __builtin_sub_overflow(one, other, &result)) overflow();
  if (symbol == "*" && __builtin_mul_overflow(one, other, &result)) overflow();
  if (divides) {  // towards minus infinity
    auto const rest = one % other;
    bool const lower = rest != 0 && (rest < 0) != (other < 0);
    result = symbol == "%" ? rest + (lower ? other : 0) : one / other - (lower ? 1 : 0);
  }
  return Value(result);
}

Value repeated(std::string const& text, std::int64_t times) {
  constexpr std::int64_t most_bytes = 1 << 20;
  std::string result;
  if (times * std::ssize(text) > most_bytes || times > most_bytes) overflow();
  for (; times > 0; --times) result += text;
  return text_value(std::move(result));
}

Value of_numbers(std::string const& symbol, Value const& one, Value const& other) {
  auto const first = integer_in(one), second = integer_in(other);
  if (first && second && symbol != "/" && symbol != "**")
    return of_integers(symbol, *first, *second);
  auto const a = *real_in(one), b = *real_in(other);
  if (symbol == "+") return Value(a + b);
  if (symbol == "-") return Value(a - b);
  if (symbol == "*") return Value(a * b);
  if (symbol == "/" && b != 0) return Value(a / b);
  fail(fmt::format("`{}` of these numbers is not known here", symbol));
}

bool is_in(Value const& one, Value const& other) {
  if (other.is<Undefined>()) return false;
  if (auto const* const text = other.get<Text>()) {
    if (auto const* const part = one.get<Text>()) return (*text)->find(**part) != std::string::npos;
    fail(fmt::format("`in` asks a text for {}", type_name(one)));
  }
  if (auto const* const map = other.get<Map>())
    return one.is<Text>() && find((*map)->entries, **one.get<Text>()) != nullptr;
  if (auto const* const list = other.get<List>())
    return std::ranges::any_of(**list, [&](Value const& each) { return is_equal(each, one); });
  fail(fmt::format("`in` asks {}", type_name(other)));
}

bool is_less(Value const& one, Value const& other) {
  auto const a = real_in(one), b = real_in(other);
  if (a && b) return *a < *b;
  if (one.is<Text>() && other.is<Text>()) return **one.get<Text>() < **other.get<Text>();
  fail(fmt::format("{} is compared with {}", type_name(one), type_name(other)));
}

// Returns the numbers of the elements that a slice of `size` takes.
std::vector<std::size_t> slice_places(std::int64_t size, SliceBounds const& bounds) {
  auto const& [begin, end, by] = bounds;
  auto const step = by;  // Clang before 16 captures no structured binding
  if (step == 0) fail("a slice with a step of 0");
  auto const bounded = [&](std::int64_t at) {
    if (at < 0) at += size;
    return step > 0 ? std::clamp<std::int64_t>(at, 0, size)
                    : std::clamp<std::int64_t>(at, -1, size - 1);
  };
  auto const first = begin ? bounded(*begin) : step > 0 ? 0 : size - 1;
  auto const last = end ? bounded(*end) : step > 0 ? size : -1;
  std::vector<std::size_t> places;
  for (auto at = first; step > 0 ? at < last : at > last; at += step)
    places.push_back(static_cast<std::size_t>(at));
  return places;
}

std::vector<std::string> characters_of(std::string const& text) {
  auto const places = character_places(text);
  std::vector<std::string> characters;
  for (std::size_t i = 0; i + 1 < places.size(); ++i)
    characters.push_back(text.substr(places[i], places[i + 1] - places[i]));
  return characters;
}

}  // namespace

Value binary(std::string const& symbol, Value const& one, Value const& other) {
  if (symbol == "~") return text_value(printed(one) + printed(other));
  if (real_in(one) && real_in(other)) return of_numbers(symbol, one, other);
  auto const *const text = one.get<Text>(), *const more = other.get<Text>();
  if (symbol == "+" && text != nullptr && more != nullptr) return text_value(**text + **more);
  auto const *const list = one.get<List>(), *const others = other.get<List>();
  if (symbol == "+" && list != nullptr && others != nullptr) {
    auto elements = **list;
    elements.insert(elements.end(), (*others)->begin(), (*others)->end());
    return list_value(std::move(elements));
  }
  if (symbol == "*" && text != nullptr && integer_in(other))
    return repeated(**text, *integer_in(other));
  fail(fmt::format("`{}` of {} and {}", symbol, type_name(one), type_name(other)));
}

bool compared(std::string const& symbol, Value const& one, Value const& other) {
  if (symbol == "==") return is_equal(one, other);
  if (symbol == "!=") return !is_equal(one, other);
  if (symbol == "in") return is_in(one, other);
  if (symbol == "not in") return !is_in(one, other);
  if (symbol == "<") return is_less(one, other);
  if (symbol == ">") return is_less(other, one);
  if (symbol == "<=") return !is_less(other, one);
  return !is_less(one, other);
}

Value negative(Value const& value) {
  auto const integer = integer_in(value);
  if (integer && *integer == std::numeric_limits<std::int64_t>::min()) overflow();
  if (integer) return Value(-*integer);
  if (real_in(value)) return Value(-*real_in(value));
  fail(fmt::format("`-` of {}", type_name(value)));
}

Value item_of(Value const& object, Value const& key) {
  if (object.is<Undefined>()) fail("something is asked of what is undefined");
  if (auto const* const name = key.get<Text>()) {
    if (!object.is<List>() && !object.is<Text>()) return attribute_of(object, **name);
    return Value();
  }
  auto const at = integer_in(key);
  if (!at) fail(fmt::format("{} is asked for {}", type_name(object), type_name(key)));
  if (!object.is<List>() && !object.is<Text>()) return Value();
  auto const elements = elements_of(object);
  auto const place = *at < 0 ? *at + std::ssize(elements) : *at;
  if (place < 0 || place >= std::ssize(elements)) return Value();
  return elements[static_cast<std::size_t>(place)];
}

Value attribute_of(Value const& object, std::string const& name) {
  if (object.is<Undefined>()) fail(fmt::format("`{}` is asked of what is undefined", name));
  Value const* found = nullptr;
  if (auto const* const map = object.get<Map>()) found = find((*map)->entries, name);
  if (auto const* const names = object.get<Namespace>()) found = find((*names)->entries, name);
  if (auto const* const loop = object.get<Loop>()) {
    found = find((*loop)->entries, name);
    if (found == nullptr) fail(fmt::format("loop.{} is not known here", name));
  }
  return found == nullptr ? Value() : *found;
}

Value slice_of(Value const& object, SliceBounds bounds) {
  if (!object.is<List>() && !object.is<Text>())
    fail(fmt::format("a slice of {}", type_name(object)));
  auto const elements = elements_of(object);
  Elements taken;
  for (auto const place : slice_places(std::ssize(elements), bounds))
    taken.push_back(elements[place]);
  if (object.is<List>()) return list_value(std::move(taken));
  std::string text;
  for (auto const& one : taken) text += **one.get<Text>();
  return text_value(std::move(text));
}

Elements elements_of(Value const& value) {
  Elements elements;
  if (auto const* const list = value.get<List>()) return **list;
  if (auto const* const map = value.get<Map>()) {
    for (auto const& [name, _] : (*map)->entries) elements.push_back(text_value(name));
  } else if (auto const* const text = value.get<Text>()) {
    for (auto& one : characters_of(**text)) elements.push_back(text_value(std::move(one)));
  } else if (!value.is<Undefined>()) {
    fail(fmt::format("{} has no elements", type_name(value)));
  }
  return elements;
}

std::int64_t length_of(Value const& value) {
  if (auto const* const text = value.get<Text>()) return std::ssize(character_places(**text)) - 1;
  return std::ssize(elements_of(value));
}

std::string printed(Value const& value) {
  if (value.is<Undefined>()) return "";
  if (value.is<None>()) return "None";
  if (auto const* const flag = value.get<bool>()) return *flag ? "True" : "False";
  if (auto const* const integer = value.get<std::int64_t>()) return std::to_string(*integer);
  if (auto const* const real = value.get<double>()) return number_text(*real);
  if (auto const* const text = value.get<Text>()) return **text;
  fail(fmt::format("{} is printed as Python writes it, which is not known here", type_name(value)));
}

std::string const& text_of(Value const& value, char const* what) {
  if (auto const* const text = value.get<Text>()) return **text;
  fail(fmt::format("{} is {}, no text", what, type_name(value)));
}

std::int64_t integer_of(Value const& value, char const* what) {
  if (auto const integer = integer_in(value)) return *integer;
  fail(fmt::format("{} is {}, no whole number", what, type_name(value)));
}

}  // namespace spillway::jinja
