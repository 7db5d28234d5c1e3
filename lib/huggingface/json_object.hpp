// A JSON object from a stranger, and its parts in messages; only for this folder's sources.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace spillway {

using Json = nlohmann::json;  // keys are sorted, as transformers writes them

// Throws Error(bad_input) that begins with `place` and names the key, where one was read: for what
// is no JSON or no object, nests deeper than 32 levels, has a key twice, or a number that no double
// holds. What the object has under the key `dropped` is left out, and takes no memory.
Json parse_object(std::string const& text, std::string const& place, std::string_view dropped = {});

// On one line, in ASCII, and not longer than a line of a terminal.
std::string shown(Json const& value);  // texts in quotes
std::string shown_key(std::string_view key);

}  // namespace spillway
