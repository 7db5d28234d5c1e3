// Which of the files that data.train names are trained on. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "samples/sample_order.hpp"

namespace spillway {

struct ChosenFiles {
  std::vector<std::size_t> kept;  // positions in data.train, ascending
  std::vector<std::string> said;  // what was left out, in lines for the user
};

// All of `train` but what `valid` has too, as a link or a copy also. Throws Error(bad_input) where
// nothing is left.
ChosenFiles without_valid(std::vector<KnownFile> const& train, std::vector<KnownFile> const& valid);

// Lines for the user on files of `key` that come more than once: that may be meant as a weight.
std::vector<std::string> repeated(std::string_view key, std::vector<KnownFile> const& files);

}  // namespace spillway
