#include "kernels/formulas/relative_bias.hpp"

#include <fmt/core.h>

#include <cmath>

#include "base/error.hpp"

namespace spillway {

RelativeBuckets relative_buckets(Op const& op, std::int64_t buckets) {
  auto const& a = attributes_of<RelativeBiasAttributes>(op);
  auto const per_direction = a.bidirectional ? buckets / 2 : buckets;
  auto const max_exact = per_direction / 2;
  if (max_exact < 1 || a.max_distance <= max_exact)
    throw Error(Status::bad_input,
                fmt::format("{}: {} buckets of distances up to {}: there must be two of each "
                            "direction, and distances beyond their first half",
                            op.name, buckets, a.max_distance));
  auto const ratio = static_cast<double>(a.max_distance) / static_cast<double>(max_exact);
  return {per_direction, max_exact, static_cast<float>(std::log(ratio)), a.bidirectional};
}

}  // namespace spillway
