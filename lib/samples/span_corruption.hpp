// T5's span corruption (Raffel et al., arXiv:1910.10683): what is taken out of the encoder's input
// is what the decoder has to tell.
#pragma once

#include <cstdint>

#include "runtime/batch_source.hpp"
#include "samples/objectives.hpp"

namespace spillway {

// The rows of both stacks that are left for further documents of a sequence.
class SpanRoom {
 public:
  explicit SpanRoom(Recipe const& recipe);

  // How many of a document's tokens find room, the first ones. None where fewer than two do.
  std::int64_t fitting(std::int64_t tokens) const;
  // Takes the rows of as many tokens as find room, and says how many those are.
  std::int64_t take(std::int64_t tokens);

 private:
  std::int64_t m_inputs, m_targets;
  std::int64_t m_end;  // rows of what ends a document
};

// Every document of the window by itself, or all of it as one where documents are not kept apart:
//   encoder  kept S0 kept S1 ... eos     decoder's targets  S0 noise S1 noise ... eos
// with sentinels S that count down; the decoder's tokens are its targets one row later, after a
// pad. What does not fit the rows any more is left out, as are documents of one token. Rows that
// are not filled stay as they are.
void predict_spans(Recipe const& recipe, Window const& window, std::int64_t sample,
                   BatchBuffers const& to);

}  // namespace spillway
