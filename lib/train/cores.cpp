#include "train/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "runtime/process_memory.hpp"

namespace spillway {

CoreShare core_share() {
  CoreShare share;
  gethostname(share.host.data(), share.host.size() - 1);
  cpu_set_t set;
  static_assert(sizeof set == sizeof share.mask);
  if (sched_getaffinity(0, sizeof set, &set) == 0) std::memcpy(share.mask.data(), &set, sizeof set);
  share.cores = available_cores();
  return share;
}

std::int64_t own_cores(std::span<CoreShare const> all, int rank) {
  auto const& own = all[static_cast<std::size_t>(rank)];
  auto const shares = std::ranges::count_if(all, [&](CoreShare const& other) {
    bool overlaps = false;
    for (std::size_t i = 0; i < own.mask.size(); ++i)
      overlaps |= (own.mask[i] & other.mask[i]) != 0;
    return other.host == own.host && overlaps;
  });
  return std::max<std::int64_t>(1, own.cores / std::max<std::int64_t>(1, shares));
}

}  // namespace spillway
