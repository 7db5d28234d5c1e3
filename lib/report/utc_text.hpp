// Writes times for programs.
#pragma once

#include <ctime>
#include <string>

namespace spillway {

// Returns a text such as "2026-01-31T09:05:00Z".
std::string utc_text(std::time_t time);

}  // namespace spillway
