// Makes the text of JSON on one line.
#pragma once

#include <string>

namespace spillway {

inline constexpr bool kInAscii = true;

// Returns the JSON without blanks. Bytes that are no UTF-8 become replacement characters.
template <class Json>
std::string compact_json(Json const& json, bool in_ascii = false) {
  return json.dump(-1, ' ', in_ascii, Json::error_handler_t::replace);
}

}  // namespace spillway
