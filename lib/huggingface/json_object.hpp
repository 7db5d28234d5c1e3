// Reads JSON objects that a stranger may have written, and shows their parts in messages; only for
// this folder's sources.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace spillway {

using Json = nlohmann::json;  // keys are sorted, as transformers writes them

// Parses the text of a JSON object. Throws Error(bad_input) that begins with `place`, and names the
// key if one was read, for a text that is no JSON object, nests deeper than 32 levels, or has a key
// twice or a number that no double holds. What the object has under the key `dropped` is left out,
// and takes no memory.
Json parse_object(std::string const& text, std::string const& place, std::string_view dropped = {});

// `shown` and `shown_key` return a text for messages: in ASCII, on one line, not longer than a
// terminal's line.
std::string shown(Json const& value);  // a string keeps its quotes
std::string shown_key(std::string_view key);

}  // namespace spillway
