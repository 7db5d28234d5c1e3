// Buckets of distances for a relative bias, as transformers has them, in fp32 like there.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/function.hpp"
#include "graph/op.hpp"

namespace spillway {

struct RelativeBuckets {
  std::int64_t each;   // buckets of a direction
  std::int64_t exact;  // of those, the ones of a single distance
  float octaves;       // log(max_distance / exact)
  bool bidirectional;

  // How far a key `ahead` rows before (negative) or after a query is, within its direction.
  SPILLWAY_FUNCTION std::int64_t distance(std::int64_t ahead) const {
    if (ahead <= 0) return -ahead;
    return bidirectional ? ahead : 0;
  }
  SPILLWAY_FUNCTION std::int64_t offset(std::int64_t ahead) const {
    return bidirectional && ahead > 0 ? each : 0;
  }
  // Never falls as the distance grows.
  SPILLWAY_FUNCTION std::int64_t of_distance(std::int64_t distance) const {
    if (distance < exact) return distance;
    auto const ratio = static_cast<float>(distance) / static_cast<float>(exact);
    auto const share = std::log(ratio) / octaves * static_cast<float>(each - exact);
    auto const bucket = exact + static_cast<std::int64_t>(share);
    return bucket < each ? bucket : each - 1;
  }
  SPILLWAY_FUNCTION std::int64_t bucket(std::int64_t ahead) const {
    return offset(ahead) + of_distance(distance(ahead));
  }
  // The least distance, up to `limit`, whose bucket is this or a later one.
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

// Throws Error(bad_input), naming the op, where there are too few buckets or distances.
RelativeBuckets relative_buckets(Op const& op, std::int64_t buckets);

}  // namespace spillway
