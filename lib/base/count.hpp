// Writes how many there are of something.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace spillway {

// Returns a number, which may be written as a text, with its noun: "1 rank", "2 ranks".
inline std::string count(std::string_view number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == "1" ? "" : "s");
}
inline std::string count(std::int64_t number, std::string_view what) {
  return count(std::to_string(number), what);
}

}  // namespace spillway
