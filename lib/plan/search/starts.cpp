#include "plan/search/starts.hpp"

#include <algorithm>

namespace spillway {

std::vector<OpenPlan> other_starts(OpenPlan const& open, std::int64_t micro_batches) {
  std::vector<OpenPlan> result;
  for (std::int64_t const group : {2, 4}) {
    if (!open.group || group > std::min(open.most_group, micro_batches)) continue;
    result.push_back(open);
    result.back().group = false;
    result.back().plan.group = group;
  }
  if (open.prefetch) {
    result.push_back(open);
    result.back().prefetch = false;
    result.back().plan.prefetch = 2 * kShortestPrefetch;
  }
  if (std::ranges::any_of(open.chunks, &OpenChunk::gradients)) {
    result.push_back(open);
    for (OpenChunk& chunk : result.back().chunks) chunk.gradients = false;
  }
  return result;
}

}  // namespace spillway
