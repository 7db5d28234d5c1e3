// Maps distances between queries and keys to buckets, as a relative bias needs them (Raffel et al.,
// arXiv:1910.10683), in fp32 as Hugging Face's transformers does.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/function.hpp"
#include "graph/op.hpp"

namespace spillway {

struct RelativeBuckets {
  std::int64_t per_direction;  // number of buckets for keys before the query, or for keys after it
  std::int64_t max_exact;      // number of buckets per direction that hold one distance each
  float log_ratio;             // log(max_distance / max_exact)
  bool bidirectional;

  // Returns the distance of a key that is `ahead` rows after the query, or before it if `ahead` is
  // negative. Unless `bidirectional`, keys after the query count as distance 0.
  SPILLWAY_FUNCTION std::int64_t distance(std::int64_t ahead) const {
    if (ahead <= 0) return -ahead;
    return bidirectional ? ahead : 0;
  }
  SPILLWAY_FUNCTION std::int64_t offset(std::int64_t ahead) const {
    return bidirectional && ahead > 0 ? per_direction : 0;
  }
  // Returns a distance's bucket within one direction. It never falls as the distance grows.
  SPILLWAY_FUNCTION std::int64_t of_distance(std::int64_t distance) const {
    if (distance < max_exact) return distance;
    auto const ratio = static_cast<float>(distance) / static_cast<float>(max_exact);
    auto const share = std::log(ratio) / log_ratio * static_cast<float>(per_direction - max_exact);
    auto const bucket = max_exact + static_cast<std::int64_t>(share);
    return bucket < per_direction ? bucket : per_direction - 1;
  }
  SPILLWAY_FUNCTION std::int64_t bucket(std::int64_t ahead) const {
    return offset(ahead) + of_distance(distance(ahead));
  }
  // Returns the smallest distance below `limit` whose bucket is `bucket` or a later one, or `limit`
  // if there is none.
  SPILLWAY_FUNCTION std::int64_t first_distance(std::int64_t bucket, std::int64_t limit) const {
    std::int64_t low = 0, high = limit;
    while (low < high) {
      auto const middle = (low + high) / 2;
      if (of_distance(middle) < bucket) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

// Throws Error(bad_input), naming the op, if a direction has fewer than two buckets, or if
// max_distance is at most half of their number.
RelativeBuckets relative_buckets(Op const& op, std::int64_t buckets);

}  // namespace spillway
