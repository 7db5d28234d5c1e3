#include "plan/listing/read_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"

namespace spillway {

namespace {

// Of a name or a word in a message.
constexpr std::size_t kShownBytes = 60;

std::string shown(std::string_view text) {
  return printable(text.substr(0, whole_characters_bytes(text.substr(0, kShownBytes))));
}

std::int64_t number_of(Json const& json, JsonPlace const& at, std::int64_t most) {
  if (!json.is_number_integer()) at.fail("must be a whole number");
  auto const value = json.get<std::int64_t>();
  bool const wraps =
      json.is_number_unsigned() && !std::in_range<std::int64_t>(json.get<std::uint64_t>());
  if (wraps || value < -1 || value > most)
    at.fail(fmt::format("{} is not between -1 and {}", json.dump(), most));
  return value;
}

template <std::size_t I = 0>
void read_kind(std::size_t kind, Json const& json, JsonPlace const& at, Attributes& attributes) {
  if (kind != I) {
    if constexpr (I + 1 < std::variant_size_v<Attributes>)
      read_kind<I + 1>(kind, json, at, attributes);
  } else if constexpr (I == 0) {  // none
    require_keys(json, at, {});
  } else {
    read_json(json, at, attributes.emplace<I>());
  }
}

}  // namespace

std::string JsonPlace::text() const {
  if (within == nullptr) return std::string(name);
  auto const outer = within->text();
  if (element != std::string_view::npos) return fmt::format("{}[{}]", outer, element);
  return fmt::format("{}{}{}", outer, within->within == nullptr ? ": " : ".", name);
}

void JsonPlace::fail(std::string const& why) const {
  throw Error(Status::bad_input, fmt::format("{}: {}", text(), why));
}

void read_json(Json const& json, JsonPlace const& at, bool& value) {
  if (!json.is_boolean()) at.fail("must be true or false");
  value = json.get<bool>();
}

void read_json(Json const& json, JsonPlace const& at, double& value) {
  if (!json.is_number()) at.fail("must be a number");
  value = json.get<double>();
}

// Names become part of messages, which are one line.
void read_json(Json const& json, JsonPlace const& at, std::string& value) {
  if (!json.is_string()) at.fail("must be a text");
  value = json.get<std::string>();
  if (printable(value) != value || value.find_first_of("\n\t") != std::string::npos)
    at.fail("has characters that cannot be shown");
}

void read_json(Json const& json, JsonPlace const& at, std::int64_t& value) {
  value = number_of(json, at, kMostBytes);
}

void read_json(Json const& json, JsonPlace const& at, std::int32_t& value) {
  value = static_cast<std::int32_t>(number_of(json, at, std::numeric_limits<std::int32_t>::max()));
}

void read_json(Json const& json, JsonPlace const& at, std::uint64_t& value) {
  if (!json.is_number_unsigned()) at.fail("must be a whole number that is not negative");
  value = json.get<std::uint64_t>();
}

std::size_t word_of(Json const& json, JsonPlace const& at,
                    std::vector<std::string_view> const& words) {
  if (!json.is_string()) at.fail(fmt::format("must be one of {}", fmt::join(words, ", ")));
  auto const& text = json.get_ref<std::string const&>();
  auto const word = std::ranges::find(words, text);
  if (word == words.end())
    at.fail(fmt::format("'{}' is none of {}", shown(text), fmt::join(words, ", ")));
  return static_cast<std::size_t>(word - words.begin());
}

Json const& value_of(Json const& json, JsonPlace const& at, std::string_view key) {
  if (!json.is_object()) at.fail("must be an object");
  auto const value = json.find(key);
  if (value == json.end()) JsonPlace{key, &at}.fail("is missing");
  return *value;
}

void require_list(Json const& json, JsonPlace const& at) {
  if (!json.is_array()) at.fail("must be a list");
}

void require_keys(Json const& json, JsonPlace const& at,
                  std::vector<std::string_view> const& keys) {
  if (!json.is_object()) at.fail("must be an object");
  for (auto const& entry : json.items()) {
    if (std::ranges::find(keys, entry.key()) == keys.end())
      at.fail(fmt::format("'{}' is no key of it", shown(entry.key())));
  }
}

void read_json(Json const& json, JsonPlace const& at, TierBytes& bytes) {
  std::vector<std::string_view> keys;
  for (Tier const tier : kTiersInOrder) {
    read_json(value_of(json, at, name(tier)), JsonPlace{name(tier), &at}, bytes[tier]);
    keys.push_back(name(tier));
  }
  require_keys(json, at, keys);
}

void read_json(Json const& json, JsonPlace const& at, Attributes& attributes) {
  if (!json.is_object() || json.size() != 1) at.fail("must be an object of one key, their kind");
  auto const entry = json.items().begin();
  auto const kind = word_of(entry.key(), at, {kAttributeNames.begin(), kAttributeNames.end()});
  read_kind(kind, entry.value(), JsonPlace{kAttributeNames[kind], &at}, attributes);
}

}  // namespace spillway
