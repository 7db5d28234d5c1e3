// What Python does with texts, on UTF-8; only for this folder's sources.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/value.hpp"

namespace spillway::jinja {

// Returns the text of a literal without its quotes; nothing if an escape is not known.
std::optional<std::string> unescaped(std::string_view literal);

// Returns the positions at which characters begin, and the size of the text.
std::vector<std::size_t> character_places(std::string_view text);

enum class Side : std::uint8_t { both, left, right };
// Removes white space, or any of the characters of `which`.
std::string stripped(std::string_view text, Side side, std::optional<std::string_view> which = {});
// str.split, with at most `most` cuts (-1: all); without a separator at white space.
std::vector<std::string> split_text(std::string_view text,
                                    std::optional<std::string_view> separator, std::int64_t most);
std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::int64_t most);

// Returns a number as repr() writes it.
std::string number_text(double number);

struct JsonStyle {
  std::int64_t indent = -1;  // -1: on one line
  bool sorts_keys = false;
};
// json.dumps with ensure_ascii=False. Returns nothing if the value has something that JSON has not.
std::optional<std::string> json_text(Value const& value, JsonStyle style);

}  // namespace spillway::jinja
