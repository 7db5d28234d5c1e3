// Where texts that `generate` makes begin and end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "samples/recipe.hpp"

namespace spillway {

struct TextBounds {
  std::int32_t start = 0;          // what a decoder starts with
  std::vector<std::int32_t> ends;  // each ends a text
};

// Of a model that was imported, as the files say that its checkpoint carries; else the recipe's.
// Ids that the command line gives (`overrides`, data.*_id=N) are over both. Throws Error.
TextBounds text_bounds(CheckpointReader const& checkpoint, Config const& config,
                       Recipe const& recipe, std::span<std::string const> overrides);

}  // namespace spillway
