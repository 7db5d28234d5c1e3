// A Mix says from which of several texts a sample is, so that each text has its share of them.
// Nothing but the number of the sample decides, so a mix needs no other state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spillway {

// Shares are parts of a block of at most this many samples.
inline constexpr std::int64_t kMostMixed = 4096;

// Returns for each weight how many samples of a block are its text's. A block is the smallest that
// the weights divide or, if none does, kMostMixed samples, parted by largest remainder. Weights are
// positive. A share is 0 if a weight is too small for one sample of a block.
std::vector<std::int64_t> mix_shares(std::span<double const> weights);

// Samples are mixed block by block: each block has the shares exactly, in an order of its own.
class Mix {
 public:
  // Throws std::logic_error unless there are shares, and all are positive.
  Mix(std::vector<std::int64_t> shares, std::uint64_t seed);

  // `number` counts the samples of the text, each of which has one.
  struct Draw {
    std::size_t text;
    std::int64_t number;
  };
  // Returns what sample `sample` >= 0 is. Does not allocate.
  Draw draw(std::int64_t sample) const;

  std::int64_t share(std::size_t text) const { return m_ends[text] - first(text); }
  std::int64_t block() const { return m_ends.back(); }

 private:
  std::int64_t first(std::size_t text) const { return text == 0 ? 0 : m_ends[text - 1]; }

  std::vector<std::int64_t> m_ends;  // the sums of the shares up to each text
  std::uint64_t m_seed;
};

}  // namespace spillway
