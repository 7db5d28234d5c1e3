// What a rank may use of each tier.
#pragma once

#include <cstdint>
#include <limits>

namespace spillway {

struct Budgets {
  std::int64_t device_bytes = 0;
  std::int64_t host_bytes = 0;  // 0: no host tier
  std::int64_t nvme_bytes = 0;  // 0: no NVMe tier
  // That may be written to the drive, over a step: for its endurance.
  double nvme_bytes_per_s = std::numeric_limits<double>::infinity();
};

}  // namespace spillway
