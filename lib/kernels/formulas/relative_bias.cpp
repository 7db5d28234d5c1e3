#include "kernels/formulas/relative_bias.hpp"

#include <fmt/core.h>

#include <cmath>

#include "base/error.hpp"

namespace spillway {

RelativeBuckets relative_buckets(Op const& op, std::int64_t buckets) {
  auto const& a = attributes_of<RelativeBiasAttributes>(op);
  auto const each = a.bidirectional ? buckets / 2 : buckets;
  auto const exact = each / 2;
  if (exact < 1 || a.max_distance <= exact)
    throw Error(Status::bad_input,
                fmt::format("{}: {} buckets of distances up to {}: there must be two of each "
                            "direction, and distances beyond their first half",
                            op.name, buckets, a.max_distance));
  auto const ratio = static_cast<double>(a.max_distance) / static_cast<double>(exact);
  return {each, exact, static_cast<float>(std::log(ratio)), a.bidirectional};
}

}  // namespace spillway
