// Keeps the warnings that a process has logged, so that it can repeat them at its end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway {

// Remembers a warning. Any thread may call it.
void keep_warning(std::string_view line);

// Returns the warnings so far. Those that differ only in numbers are one line, the first of them,
// which ends with how many more there were.
std::vector<std::string> warnings_so_far();

}  // namespace spillway
