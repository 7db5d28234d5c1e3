// Decides where texts that `generate` makes begin and end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "samples/recipe.hpp"
#include "state/resume.hpp"

namespace spillway {

struct TextBounds {
  std::int32_t start = 0;          // the first token that a T5 decoder reads
  std::vector<std::int32_t> ends;  // each of these tokens ends a text
};

// Returns the ids that begin and end texts: those in the model's files beside the weights or, if
// there are none, the recipe's; and `ends_of_answers`. An id in `overrides` (data.*_id=N, from the
// command line) takes precedence. If a file that a checkpoint carries cannot be read, warns and
// returns the recipe's ids. Throws Error(bad_input) if a file does not make sense.
TextBounds text_bounds(Resumption const& start, Config const& config, Recipe const& recipe,
                       std::span<std::string const> overrides,
                       std::span<std::int32_t const> ends_of_answers = {});

}  // namespace spillway
