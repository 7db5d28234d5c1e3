// Tells what fills a tier at the moment when the most of it is in use.
#pragma once

#include <string>
#include <vector>

#include "plan/data/words.hpp"

namespace spillway {

struct PeakMoment {
  ItemNumber item = -1;  // the first one with the most bytes alive; -1: the tier is idle
  struct Part {
    Content content{};
    bool passing = false;  // true: here for a moment only, because an op at work needs it
    std::int64_t bytes = 0;
    int tensors = 0;
    BufferId largest = -1;
    std::int64_t largest_bytes = 0;
  };
  std::vector<Part> parts;     // most bytes first
  std::int64_t gap_bytes = 0;  // bytes of the tier's peak that no part fills
};

// `parts` and `gap_bytes` sum up to the Program's peak_bytes. Bytes are footprints, which are
// rounded up to pages; both versions of a buffer count, and only what is there of one that is
// partly away. Gaps are what layout could not fill, and what evaluation needs beyond training's
// peak.
PeakMoment peak_moment(Program const& program, Tier tier);

// Tells the peak moments of all tiers as lines of text.
std::string peaks_text(Program const& program);

}  // namespace spillway
