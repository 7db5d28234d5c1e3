// Makes one sequence of a batch of a window of the text. Pure: equal arguments give equal bits on
// any rank and after any restart.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/batch_source.hpp"
#include "samples/recipe.hpp"

namespace spillway {

// The tokens of a TextWindow and the one after them, which only `next` looks at.
struct Window {
  std::span<std::int32_t const> tokens;
  // Where in it, after its first token, other documents begin, ascending; none unless they are
  // kept apart (Recipe::pack).
  std::span<std::int64_t const> starts;
};

// Fills every field that rows have in every stack of the recipe, as SequenceBuffer holds them;
// `sample` chooses among the draws of the recipe's seed. Does not allocate.
void make_sequence(Recipe const& recipe, Window const& window, std::int64_t sample,
                   BatchBuffers const& to);

// Fills them with padding alone, as in a sequence beyond the batch.
void make_padding(Recipe const& recipe, BatchBuffers const& to);

}  // namespace spillway
