// The kinds that are read from places in a file: checkpoints and token files, sealed and old.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "targets.hpp"

namespace spillway::test {

std::vector<FuzzTarget> file_targets(std::filesystem::path const& scratch);

std::string read_file(std::filesystem::path const& path);
void write_file(std::filesystem::path const& path, std::string const& bytes);

}  // namespace spillway::test
