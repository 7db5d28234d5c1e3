// What a rank may use of each tier.
#pragma once

#include <cstdint>

namespace spillway {

struct Budgets {
  std::int64_t device_bytes = 0;
  std::int64_t host_bytes = 0;  // 0: no host tier
  std::int64_t nvme_bytes = 0;  // 0: no NVMe tier
};

}  // namespace spillway
