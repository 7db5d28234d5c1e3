// Makes the text of JSON that commands print.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace spillway {

// Returns the JSON in ASCII on several lines. Bytes of file names and messages that are no UTF-8
// become replacement characters.
inline std::string json_text(nlohmann::ordered_json const& json) {
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace spillway
