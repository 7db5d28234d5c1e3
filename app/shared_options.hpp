// Options that several commands have, and checks of what is given for them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace spillway {

// CLI11 calls such checks with the text of an option. Each returns what is wrong, or "".
std::string is_path(std::string const& path);

CLI::Option* offer_numbers(CLI::App& command, std::string const& name,
                           std::vector<std::int64_t>& numbers, std::string const& about,
                           std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                           std::int64_t most = std::numeric_limits<std::int64_t>::max());

// Of commands that read a checkpoint whose frozen weights may lie elsewhere.
void offer_base(CLI::App& command, std::string& base);

void offer_force(CLI::App& command, bool& force, std::string const& about);
inline constexpr auto kForceFile = "replace the file also if this program did not make it";
inline constexpr auto kForceDirectory = "replace such a directory, if nothing else lies in it";

}  // namespace spillway
