// Tells what fills a tier at the moment when most of its bytes are in use.
#pragma once

#include <string>
#include <vector>

#include "plan/data/words.hpp"

namespace spillway {

struct PeakMoment {
  ItemNumber item = -1;  // the first item at which most bytes are in use; -1 if the tier is unused
  struct Part {
    Content content{};
    bool passing = false;  // true if it is here only while an op at work needs it
    std::int64_t bytes = 0;
    int tensors = 0;
    BufferId largest = -1;
    std::int64_t largest_bytes = 0;
  };
  std::vector<Part> parts;     // sorted by bytes, largest first
  std::int64_t gap_bytes = 0;  // bytes of the tier's peak that no part fills
};

// `gap_bytes` and the bytes of all `parts` add up to the Program's peak_bytes. Sizes are rounded up
// to pages. Both versions of a buffer count; if a part of a buffer is away, only the rest counts.
// Gaps are bytes that layout could not fill, and bytes that only evaluation needs.
PeakMoment peak_moment(Program const& program, Tier tier);

// Describes the peak moments of all tiers in lines of text.
std::string peaks_text(Program const& program);

}  // namespace spillway
