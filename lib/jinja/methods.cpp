#include "jinja/methods.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "jinja/operators.hpp"
#include "jinja/python_text.hpp"

namespace spillway::jinja {
namespace {

constexpr std::array<std::string_view, 11> kMapMethods = {
    "items", "keys",   "values", "get",        "pop",     "popitem",
    "copy",  "update", "clear",  "setdefault", "fromkeys"};
constexpr std::array<std::string_view, 47> kTextMethods = {
    "capitalize",   "casefold",    "center",    "count",      "encode",       "endswith",
    "expandtabs",   "find",        "format",    "format_map", "index",        "isalnum",
    "isalpha",      "isascii",     "isdecimal", "isdigit",    "isidentifier", "islower",
    "isnumeric",    "isprintable", "isspace",   "istitle",    "isupper",      "join",
    "ljust",        "lower",       "lstrip",    "maketrans",  "partition",    "removeprefix",
    "removesuffix", "replace",     "rfind",     "rindex",     "rjust",        "rpartition",
    "rsplit",       "rstrip",      "split",     "splitlines", "startswith",   "strip",
    "swapcase",     "title",       "translate", "upper",      "zfill"};
constexpr std::array<std::string_view, 11> kListMethods = {"append", "clear",   "copy",   "count",
                                                           "extend", "index",   "insert", "pop",
                                                           "remove", "reverse", "sort"};
constexpr std::array<std::string_view, 5> kBuiltins = {"raise_exception", "strftime_now",
                                                       "namespace", "range", "dict"};

// Letters of ASCII are told apart here; others change in ways that only Unicode's tables know.
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
char upper(char c) {
  return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
}
char lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

std::optional<std::string_view> optional_text(Arguments const& arguments, std::size_t place,
                                              char const* name) {
  auto const* const value = arguments.get(place, name);
  if (value == nullptr || value->is<None>()) return {};
  return text_of(*value, name);
}

std::int64_t optional_integer(Arguments const& arguments, std::size_t place, char const* name) {
  auto const* const value = arguments.get(place, name);
  return value == nullptr ? -1 : integer_of(*value, name);
}

Value split(std::string const& text, Arguments const& arguments) {
  arguments.require("split", {"sep", "maxsplit"});
  auto const separator = optional_text(arguments, 0, "sep");
  if (separator && separator->empty()) fail("split at an empty text");
  Elements parts;
  for (auto& part : split_text(text, separator, optional_integer(arguments, 1, "maxsplit")))
    parts.push_back(text_value(std::move(part)));
  return list_value(std::move(parts));
}

// startswith and endswith take a text or several.
Value has_affix(std::string const& text, std::string const& name, Arguments const& arguments) {
  arguments.require(name, {"text"});
  auto const* const given = arguments.get(0, "text");
  if (given == nullptr) fail(name + " without a text");
  auto const has = [&](Value const& one) {
    auto const& affix = text_of(one, name.c_str());
    return name == "startswith" ? text.starts_with(affix) : text.ends_with(affix);
  };
  if (auto const* const several = given->get<List>())
    return Value(std::ranges::any_of(**several, has));
  return Value(has(*given));
}

Value replace(std::string const& text, Arguments const& arguments) {
  arguments.require("replace", {"old", "new", "count"});
  auto const from = optional_text(arguments, 0, "old"), to = optional_text(arguments, 1, "new");
  if (!from || !to || from->empty())
    fail("replace wants two texts, the first of which is not empty");
  return text_value(replaced(text, *from, *to, optional_integer(arguments, 2, "count")));
}

Value find_in(std::string const& text, Arguments const& arguments) {
  arguments.require("find", {"sub"});
  auto const part = optional_text(arguments, 0, "sub");
  if (!part) fail("find wants a text");
  auto const at = text.find(*part);
  if (at == text.npos) return Value(std::int64_t{-1});
  return Value(std::int64_t{std::ssize(character_places(text.substr(0, at)))} - 1);
}

Value call_of_text(std::string const& text, std::string const& name, Arguments const& arguments) {
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    arguments.require(name, {"chars"});
    auto const side = name == "strip" ? Side::both : name == "lstrip" ? Side::left : Side::right;
    return text_value(stripped(text, side, optional_text(arguments, 0, "chars")));
  }
  if (name == "split") return split(text, arguments);
  if (name == "startswith" || name == "endswith") return has_affix(text, name, arguments);
  if (name == "replace") return replace(text, arguments);
  if (name == "find") return find_in(text, arguments);
  if (name == "join") {
    arguments.require(name, {"parts"});
    auto const* const parts = arguments.get(0, "parts");
    if (parts == nullptr) fail("join without a list");
    std::string joined;
    bool is_first = true;
    for (auto const& part : elements_of(*parts)) {
      joined += (is_first ? "" : text) + text_of(part, "what is joined");
      is_first = false;
    }
    return text_value(std::move(joined));
  }
  arguments.require(name, {});
  if (auto made = in_case(name, text)) return text_value(std::move(*made));
  fail(fmt::format("the method `{}` of a text is not known here", name));
}

Value call_of_map(MapData const& map, std::string const& name, Arguments const& arguments) {
  if (name == "get") {
    arguments.require(name, {"key", "default"});
    auto const* const key = arguments.get(0, "key");
    auto const* const other = arguments.get(1, "default");
    if (key == nullptr || !key->is<Text>()) fail("get wants the name of an entry");
    auto const* const found = find(map.entries, **key->get<Text>());
    return found != nullptr ? *found : other != nullptr ? *other : Value(None{});
  }
  arguments.require(name, {});
  Elements elements;
  for (auto const& [key, value] : map.entries) {
    if (name == "keys")
      elements.push_back(text_value(key));
    else if (name == "values")
      elements.push_back(value);
    else if (name == "items")
      elements.push_back(list_value({text_value(key), value}));
    else
      fail(fmt::format("the method `{}` of a map is not known here", name));
  }
  return list_value(std::move(elements));
}

Value range(Arguments const& arguments) {
  arguments.require("range", {"start", "stop", "step"});
  auto const at = [&](std::size_t i) { return integer_of(arguments.values.at(i), "range"); };
  auto const count = arguments.values.size();
  if (count == 0 || !arguments.named.empty()) fail("range wants one to three numbers");
  auto const begin = count > 1 ? at(0) : 0, end = at(count > 1 ? 1 : 0),
             step = count > 2 ? at(2) : 1;
  constexpr std::int64_t most = 100'000;
  constexpr std::int64_t far = std::int64_t{1} << 40;
  if (step == 0 || std::max({std::abs(begin), std::abs(end), std::abs(step)}) > far ||
      (end - begin) / step > most)
    fail("range has too many numbers, or none that can be counted");
  Elements numbers;
  for (auto i = begin; step > 0 ? i < end : i > end; i += step) numbers.push_back(Value(i));
  return list_value(std::move(numbers));
}

Value now(Arguments const& arguments) {
  arguments.require("strftime_now", {"format"});
  auto const format = optional_text(arguments, 0, "format");
  if (!format) fail("strftime_now wants a format");
  auto const seconds = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  std::array<char, 256> buffer{};
  auto const size =
      std::strftime(buffer.data(), buffer.size(), std::string(*format).c_str(), &local);
  return text_value(std::string(buffer.data(), size));
}

}  // namespace

bool has_method(Value const& object, std::string const& name) {
  auto const has = [&](auto const& names) {
    return std::ranges::find(names, name) != std::ranges::end(names);
  };
  if (object.is<Text>()) return has(kTextMethods);
  if (object.is<List>()) return has(kListMethods);
  return object.is<Map>() && has(kMapMethods);
}

Value call_method(Value const& object, std::string const& name, Arguments const& arguments) {
  if (auto const* const text = object.get<Text>()) return call_of_text(**text, name, arguments);
  if (auto const* const map = object.get<Map>()) return call_of_map(**map, name, arguments);
  fail(fmt::format("the method `{}` of {} is not known here", name, type_name(object)));
}

Value builtin(std::string const& name) {
  if (std::ranges::find(kBuiltins, name) == kBuiltins.end()) return Value();
  return Value(Builtin{name});
}

Value call_builtin(std::string const& name, Arguments const& arguments) {
  if (name == "raise_exception") {
    arguments.require(name, {"message"});
    auto const* const message = arguments.get(0, "message");
    fail("the template refuses it: " + (message == nullptr ? "" : printed(*message)));
  }
  if (name == "strftime_now") return now(arguments);
  if (name == "range") return range(arguments);
  if (!arguments.values.empty()) fail(name + " with arguments that have no name");
  if (name == "dict") return Value(Map(std::make_shared<MapData const>(MapData{arguments.named})));
  return Value(std::make_shared<NamespaceData>(NamespaceData{arguments.named}));
}

std::optional<std::string> in_case(std::string const& name, std::string const& text) {
  bool const titles = name == "title", capitalizes = name == "capitalize";
  if (!titles && !capitalizes && name != "upper" && name != "lower") return {};
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    fail(fmt::format("`{}` of a text with letters beyond ASCII is not known here", name));
  auto made = text;
  bool begins = true;
  for (auto& c : made) {
    bool const is_letter = is_lower(c) || is_upper(c);
    c = name == "upper" || (begins && name != "lower") ? upper(c) : lower(c);
    begins = titles && !is_letter;
  }
  return made;
}

}  // namespace spillway::jinja
