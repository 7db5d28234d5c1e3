// Pure functions that choose which files of data.train a run trains on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "samples/sample_order.hpp"

namespace spillway {

struct ChosenFiles {
  std::vector<std::size_t> kept;  // positions in data.train, ascending
  std::vector<std::string> said;  // lines that tell the user which files are left out
};

// Keeps the files of `train` whose content is in no file of `valid`, even under another path.
// Throws Error(bad_input) if nothing is left.
ChosenFiles without_valid(std::vector<KnownFile> const& train, std::vector<KnownFile> const& valid);

// Returns lines for the user about files of `key` that are named more than once. This is no error,
// since it may be meant as a weight.
std::vector<std::string> repeated(std::string_view key, std::vector<KnownFile> const& files);

}  // namespace spillway
