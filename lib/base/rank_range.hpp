// A RankRange names some of a run's ranks.
#pragma once

#include <cstdint>

namespace spillway {

// The range consists of the ranks `first`, `first + step` and so on, which are `count` ranks.
struct RankRange {
  std::int64_t first = 0, count = 1, step = 1;

  std::int64_t rank(std::int64_t number) const { return first + number * step; }
  std::int64_t number_of(std::int64_t rank) const { return (rank - first) / step; }
  bool has(std::int64_t rank) const {
    return rank >= first && number_of(rank) < count && (rank - first) % step == 0;
  }
  bool operator==(RankRange const&) const = default;
};
constexpr RankRange all_ranks(std::int64_t ranks) {
  return {0, ranks, 1};
}

}  // namespace spillway
