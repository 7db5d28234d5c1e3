// Turns a window of the text into one sequence of a batch. These functions are pure, so equal
// arguments give equal bits on any rank and after any restart.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/batch_source.hpp"
#include "samples/recipe.hpp"

namespace spillway {

// `tokens` has the tokens of a TextWindow and one more, which only the objective `next` reads.
struct Window {
  std::span<std::int32_t const> tokens;
  // These are the positions in `tokens`, ascending and not 0, at which documents begin. There are
  // none unless documents are kept apart (Recipe::pack).
  std::span<std::int64_t const> starts;
  // Says of each of `tokens` whether it is learned, 1 or 0; empty if all are.
  std::span<std::uint8_t const> learned = {};
};

// Fills every field that a SequenceBuffer has in every stack of the recipe. Random draws depend on
// the number `sample` and the recipe's seed. Does not allocate.
void make_sequence(Recipe const& recipe, Window const& window, std::int64_t sample,
                   BatchBuffers const& to);

// Fills every field that a SequenceBuffer has in every stack with padding, for a sequence that has
// no sample.
void make_padding(Recipe const& recipe, BatchBuffers const& to);

}  // namespace spillway
