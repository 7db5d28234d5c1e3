#include "io/tensors/finite.hpp"

#include <fmt/core.h>

#include "base/error.hpp"

namespace spillway {

void require_finite(std::string const& place, std::string const& tensor, std::int64_t elements,
                    ValueCounts const& counts) {
  if (counts.not_finite == 0) return;
  throw Error(Status::damaged,
              fmt::format("{}: {}: {} of {} values are not finite (infinite, or no numbers)", place,
                          tensor, counts.not_finite, elements));
}

}  // namespace spillway
