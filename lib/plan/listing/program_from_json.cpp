#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "config/place.hpp"
#include "plan/listing/listing.hpp"
#include "plan/listing/program_fields.hpp"
#include "plan/listing/references.hpp"
#include "plan/proof/verify.hpp"

namespace spillway {

namespace {

// The type ordered_json would take time quadratic in the number of an object's keys.
using Json = nlohmann::json;

// Messages quote at most this many bytes of a text.
constexpr std::size_t kShownBytes = 60;

std::string shown(std::string_view text) {
  return printable(text.substr(0, whole_characters_bytes(text.substr(0, kShownBytes))));
}

void read(Json const& json, bool& value) {
  require(json.is_boolean(), "must be true or false");
  value = json.get<bool>();
}

void read(Json const& json, double& value) {
  require(json.is_number(), "must be a number");
  value = json.get<double>();
}

// Reads a text that is printable on one line, because names become part of messages of one line.
void read(Json const& json, std::string& value) {
  require(json.is_string(), "must be a text");
  value = json.get<std::string>();
  require(printable(value) == value && value.find_first_of("\n\t") == std::string::npos,
          "has characters that cannot be shown");
}

void read(Json const& json, std::uint64_t& value) {
  require(json.is_number_unsigned(), "must be a whole number that is not negative");
  value = json.get<std::uint64_t>();
}

// Reads a whole number that is at least -1, which stands for "none".
template <std::signed_integral T>
void read(Json const& json, T& value) {
  constexpr std::int64_t most = std::min<std::int64_t>(kMostBytes, std::numeric_limits<T>::max());
  require(json.is_number_integer(), "must be a whole number");
  auto const number = json.get<std::int64_t>();
  bool const wraps = json.is_number_unsigned() && number < 0;
  if (wraps || number < -1 || number > most)
    throw Flaw{fmt::format("{} is not between -1 and {}", json.dump(), most)};
  value = static_cast<T>(number);
}

// Returns the index of a text among `words`. Throws a Flaw if the text is none of them.
std::size_t read_word(Json const& json, std::span<std::string_view const> words) {
  require(json.is_string(), "must be one of {}", fmt::join(words, ", "));
  auto const& text = json.get_ref<std::string const&>();
  auto const word = std::ranges::find(words, text);
  if (word == words.end())
    throw Flaw{fmt::format("'{}' is none of {}", shown(text), fmt::join(words, ", "))};
  return static_cast<std::size_t>(word - words.begin());
}

template <class T>
requires std::is_enum_v<T>
void read(Json const& json, T& value) {
  value = static_cast<T>(read_word(json, kWords<T>));
}

template <List T>
void read(Json const& json, T& values);
void read(Json const& json, Attributes& attributes);

// Reads an object of any type that has a function `visit_fields`.
template <class T>
void read(Json const& json, T& value) {
  require(json.is_object(), "must be an object");
  std::vector<std::string_view> keys;
  visit_fields(value, [&](std::string_view key, auto& part) {
    keys.push_back(key);
    within(key, [&] {
      auto const found = json.find(key);
      require(found != json.end(), "is missing");
      read(*found, part);
    });
  });
  for (auto const& entry : json.items()) {
    if (std::ranges::find(keys, entry.key()) == keys.end())
      throw Flaw{fmt::format("'{}' is no key of it", shown(entry.key()))};
  }
}

template <List T>
void read(Json const& json, T& values) {
  require(json.is_array(), "must be a list");
  values.resize(json.size());
  for (std::size_t i = 0; i < values.size(); ++i) within(i, [&] { read(json[i], values[i]); });
}

template <std::size_t... kind>
void read_kind(std::size_t wanted, Json const& json, Attributes& attributes,
               std::index_sequence<kind...>) {
  ((kind == wanted ? read(json, attributes.emplace<kind>()) : void()), ...);
}

void read(Json const& json, Attributes& attributes) {
  require(json.is_object() && json.size() == 1, "must be an object of one key, their kind");
  auto const entry = json.items().begin();
  auto const kind = read_word(entry.key(), kAttributeNames);
  within(kAttributeNames[kind], [&] {
    read_kind(kind, entry.value(), attributes, std::make_index_sequence<kAttributeNames.size()>());
  });
}

Json parsed(std::string const& text) {
  try {
    return Json::parse(text);
  } catch (nlohmann::json::parse_error const& error) {
    throw Flaw{fmt::format("is no JSON, at byte {}", error.byte)};
  } catch (nlohmann::json::exception const&) {
    throw Flaw{"is no JSON"};
  }
}

Program program_of(std::string const& text) {
  auto json = parsed(text);
  require(json.is_object() && json.contains(kFormKey) && json[kFormKey] == Json(kForm),
          "{}: must be {}", kFormKey, kForm);
  json.erase(kFormKey);
  Program program;
  read(json, program);
  check_references(program);
  if (auto const wrong = check_shape(program)) throw Flaw{wrong->why};
  return program;
}

}  // namespace

Program program_from_json(std::string const& text, std::string const& source) {
  try {
    return program_of(text);
  } catch (Flaw const& flaw) {
    // The place of a flaw begins with a dot, which is left out here.
    refuse({source, flaw.where.substr(flaw.where.empty() ? 0 : 1)}, flaw.why);
  }
}

}  // namespace spillway
