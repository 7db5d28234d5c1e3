#include "jinja/filters.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "jinja/methods.hpp"
#include "jinja/operators.hpp"
#include "jinja/python_text.hpp"

namespace spillway::jinja {
namespace {

using Filter = Value (*)(Value const&, Arguments const&);

Value trim(Value const& value, Arguments const& arguments) {
  arguments.require("trim", {"chars"});
  auto const* const chars = arguments.get(0, "chars");
  std::optional<std::string_view> which;
  if (chars != nullptr && !chars->is<None>()) which = text_of(*chars, "trim");
  return text_value(stripped(printed(value), Side::both, which));
}

Value to_json(Value const& value, Arguments const& arguments) {
  arguments.require("tojson", {"indent", "ensure_ascii", "separators", "sort_keys"});
  JsonStyle style;
  if (auto const* const indent = arguments.get(0, "indent"); indent && !indent->is<None>())
    style.indent = integer_of(*indent, "indent");
  auto const* const ascii = arguments.get(1, "ensure_ascii");
  auto const* const separators = arguments.get(2, "separators");
  if ((ascii && is_true(*ascii)) || (separators && !separators->is<None>()) || style.indent > 64)
    fail("tojson with ensure_ascii, separators or a wide indent is not known here");
  if (auto const* const sorts = arguments.get(3, "sort_keys")) style.sorts_keys = is_true(*sorts);
  auto text = json_text(value, style);
  if (!text) fail(fmt::format("tojson of {}, or of something in it", type_name(value)));
  return text_value(std::move(*text));
}

Value join(Value const& value, Arguments const& arguments) {
  arguments.require("join", {"d", "attribute"});
  auto const* const separator = arguments.get(0, "d");
  auto const* const attribute = arguments.get(1, "attribute");
  std::string text;
  bool is_first = true;
  for (auto const& one : elements_of(value)) {
    if (!is_first && separator != nullptr) text += text_of(*separator, "join");
    is_first = false;
    text += printed(attribute == nullptr ? one : attribute_of(one, text_of(*attribute, "join")));
  }
  return text_value(std::move(text));
}

Value or_default(Value const& value, Arguments const& arguments) {
  arguments.require("default", {"default_value", "boolean"});
  auto const *const other = arguments.get(0, "default_value"), *const boolean =
                                                                   arguments.get(1, "boolean");
  bool const is_missing =
      value.is<Undefined>() || (boolean != nullptr && is_true(*boolean) && !is_true(value));
  if (!is_missing) return value;
  return other == nullptr ? text_value("") : *other;
}

Value to_integer(Value const& value, Arguments const& arguments) {
  arguments.require("int", {});
  if (auto const* const real = value.get<double>()) {
    if (!(std::abs(*real) < 9e18)) fail("a number is too large");
    return Value(static_cast<std::int64_t>(*real));
  }
  auto const* const text = value.get<Text>();
  if (text == nullptr) return Value(integer_of(value, "int"));
  std::int64_t number = 0;
  auto const* const end = (*text)->data() + (*text)->size();
  if (std::from_chars((*text)->data(), end, number).ptr != end || (*text)->empty())
    fail("int of a text that is no whole number");
  return Value(number);
}

// Takes an attribute of each element, or passes each through another filter.
Value map_all(Value const& value, Arguments const& arguments) {
  Elements made;
  auto const* const attribute = find(arguments.named, "attribute");
  auto const* const other = find(arguments.named, "default");
  if (attribute != nullptr) {
    if (!arguments.values.empty() || arguments.named.size() > (other == nullptr ? 1u : 2u))
      fail("map with these arguments is not known here");
    for (auto const& one : elements_of(value)) {
      auto found = attribute_of(one, text_of(*attribute, "attribute"));
      made.push_back(found.is<Undefined>() && other != nullptr ? *other : std::move(found));
    }
    return list_value(std::move(made));
  }
  if (arguments.values.empty()) fail("map without a filter");
  auto rest = arguments;
  rest.values.erase(rest.values.begin());
  for (auto const& one : elements_of(value))
    made.push_back(filtered(text_of(arguments.values[0], "map"), one, rest));
  return list_value(std::move(made));
}

// selectattr and rejectattr ask an attribute of each element, select and reject the element.
Value chosen(Value const& value, Arguments const& arguments, bool asks_attribute, bool wanted) {
  if (asks_attribute && arguments.values.empty()) fail("selectattr without an attribute");
  auto rest = arguments;
  std::string attribute, test;
  auto const take = [&](std::string& to) {
    if (rest.values.empty()) return;
    to = text_of(rest.values[0], "selectattr");
    rest.values.erase(rest.values.begin());
  };
  if (asks_attribute) take(attribute);
  take(test);
  Elements taken;
  for (auto const& one : elements_of(value)) {
    auto const asked = asks_attribute ? attribute_of(one, attribute) : one;
    bool const holds = test.empty() ? is_true(asked) : tested(test, asked, rest);
    if (holds == wanted) taken.push_back(one);
  }
  return list_value(std::move(taken));
}

Value items(Value const& value, bool sorts) {
  if (value.is<Undefined>() && !sorts) return list_value({});
  auto const* const map = value.get<Map>();
  if (map == nullptr) fail(fmt::format("items of {}", type_name(value)));
  auto entries = (*map)->entries;
  if (sorts) {  // dictsort takes no notice of case
    auto const key = [](auto const& entry) { return *in_case("lower", entry.first); };
    std::ranges::stable_sort(entries, {}, key);
  }
  Elements pairs;
  for (auto const& [name, one] : entries) pairs.push_back(list_value({text_value(name), one}));
  return list_value(std::move(pairs));
}

Value first_or_last(Value const& value, bool is_first) {
  auto const elements = elements_of(value);
  if (elements.empty()) return Value();
  return is_first ? elements.front() : elements.back();
}

Value indented(Value const& value, Arguments const& arguments) {
  arguments.require("indent", {"width", "first", "blank"});
  auto const *const width = arguments.get(0, "width"), *const first = arguments.get(1, "first"),
                    *const blank = arguments.get(2, "blank");
  auto const columns = width == nullptr ? 4 : integer_of(*width, "indent");
  if (columns < 0 || columns > 64) fail("indent with such a width is not known here");
  std::string const margin(static_cast<std::size_t>(columns), ' ');
  auto const lines = split_text(text_of(value, "indent"), "\n", -1);
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bool const moves = i == 0 ? first != nullptr && is_true(*first)
                              : !lines[i].empty() || (blank != nullptr && is_true(*blank));
    text += (i > 0 ? "\n" : "") + (moves ? margin : "") + lines[i];
  }
  return text_value(std::move(text));
}

Value reversed(Value const& value) {
  return slice_of(value, {{}, {}, -1});
}

// These take no arguments.
Value plainly(std::string const& name, Value const& value) {
  if (name == "length" || name == "count") return Value(length_of(value));
  if (name == "first" || name == "last") return first_or_last(value, name == "first");
  if (name == "list") return list_value(elements_of(value));
  if (name == "string") return text_value(printed(value));
  if (name == "safe") return value;
  if (name == "items" || name == "dictsort") return items(value, name == "dictsort");
  if (name == "reverse") return reversed(value);
  if (name == "upper" || name == "lower" || name == "capitalize")
    return text_value(*in_case(name, printed(value)));
  if (name == "abs")
    return is_true(Value(compared("<", value, Value(std::int64_t{0})))) ? negative(value) : value;
  fail(fmt::format("the filter `{}` is not known here", name));
}

}  // namespace

Value filtered(std::string const& name, Value const& value, Arguments const& arguments) {
  static std::map<std::string, Filter, std::less<>> const filters = {
      {"trim", trim},
      {"tojson", to_json},
      {"join", join},
      {"default", or_default},
      {"d", or_default},
      {"int", to_integer},
      {"map", map_all},
      {"indent", indented},
      {"replace",
       [](auto const& text, auto const& how) {
         return call_method(text_value(printed(text)), "replace", how);
       }},
      {"selectattr", [](auto const& one, auto const& how) { return chosen(one, how, true, true); }},
      {"rejectattr",
       [](auto const& one, auto const& how) { return chosen(one, how, true, false); }},
      {"select", [](auto const& one, auto const& how) { return chosen(one, how, false, true); }},
      {"reject", [](auto const& one, auto const& how) { return chosen(one, how, false, false); }}};
  if (auto const found = filters.find(name); found != filters.end())
    return found->second(value, arguments);
  arguments.require(name, {});
  return plainly(name, value);
}

bool tested(std::string const& name, Value const& value, Arguments const& arguments) {
  static std::map<std::string, std::string, std::less<>> const comparisons = {
      {"eq", "=="}, {"equalto", "=="}, {"==", "=="}, {"ne", "!="}, {"!=", "!="},
      {"lt", "<"},  {"le", "<="},      {"gt", ">"},  {"ge", ">="}, {"in", "in"}};
  if (auto const found = comparisons.find(name); found != comparisons.end()) {
    arguments.require(name, {"other"});
    if (arguments.values.empty()) fail(name + " without anything to compare with");
    return compared(found->second, value, arguments.values[0]);
  }
  if (name == "divisibleby") {
    arguments.require(name, {"num"});
    if (arguments.values.empty()) fail("divisibleby without a number");
    return !is_true(binary("%", value, arguments.values[0]));
  }
  arguments.require(name, {});
  bool const is_flag = value.is<bool>(), is_integer = value.is<std::int64_t>();
  if (name == "defined") return !value.is<Undefined>();
  if (name == "undefined") return value.is<Undefined>();
  if (name == "none") return value.is<None>();
  if (name == "string") return value.is<Text>();
  if (name == "mapping") return value.is<Map>();
  if (name == "sequence" || name == "iterable")
    return value.is<Text>() || value.is<List>() || value.is<Map>() || value.is<Undefined>();
  if (name == "number") return is_flag || is_integer || value.is<double>();
  if (name == "integer") return is_integer;
  if (name == "float") return value.is<double>();
  if (name == "boolean") return is_flag;
  if (name == "true" || name == "false") return is_flag && is_true(value) == (name == "true");
  if (name == "odd" || name == "even")
    return is_true(binary("%", value, Value(std::int64_t{2}))) == (name == "odd");
  fail(fmt::format("the test `{}` is not known here", name));
}

}  // namespace spillway::jinja
