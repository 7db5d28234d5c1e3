#include "job/cores.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/affinity.hpp"
#include "base/process_memory.hpp"
#include "comm/gathered.hpp"

namespace spillway {
namespace {

int topology(int core, char const* what) {
  int value = 0;
  std::ifstream(fmt::format("/sys/devices/system/cpu/cpu{}/topology/{}", core, what)) >> value;
  return value;
}

}  // namespace

CoreShare core_share() {
  CoreShare share;
  gethostname(share.host.data(), share.host.size() - 1);
  for (auto const core : allowed_cores()) {
    auto const bit = static_cast<std::size_t>(core);
    if (bit / 64 < share.mask.size()) share.mask[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
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

std::vector<int> exclusive_cores(std::span<CoreShare const> all, int rank,
                                 std::span<int const> near) {
  auto const& own = all[static_cast<std::size_t>(rank)];
  std::size_t shares = 0, before = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].host != own.host) continue;
    if (all[i].mask != own.mask) return {};
    if (i < static_cast<std::size_t>(rank)) ++before;
    ++shares;
  }
  bool const has_quota = near.size() != static_cast<std::size_t>(own.cores);
  if (shares < 2 || near.size() < shares || has_quota) return {};
  auto const each = near.size() / shares;
  auto const part = near.subspan(before * each, each);
  return {part.begin(), part.end()};
}

std::vector<int> cores_by_place() {
  std::vector<std::array<int, 3>> places;
  for (auto const core : allowed_cores())
    places.push_back({topology(core, "physical_package_id"), topology(core, "core_id"), core});
  std::ranges::sort(places);
  std::vector<int> cores;
  for (auto const& place : places) cores.push_back(place[2]);
  return cores;
}

RunCores run_cores(Comm& comm) {
  auto const shares = gathered(comm, core_share());
  auto const mine = own_cores(shares, comm.rank());
  return {comm.size(),
          comm.local_size(),
          mine,
          std::ranges::min(gathered(comm, mine)),
          exclusive_cores(shares, comm.rank(), cores_by_place()),
          std::ranges::min(gathered(comm, team_limit()), {}, &TeamLimit::threads)};
}

RunCores assumed_cores(std::int64_t ranks) {
  auto const share = core_share();
  auto const count = std::min(ranks, share.cores + 1);  // further ranks would not change the share
  std::vector<CoreShare> const shares(static_cast<std::size_t>(count), share);
  auto const mine = own_cores(shares, 0);
  return {ranks, ranks, mine, mine, exclusive_cores(shares, 0, cores_by_place()), team_limit()};
}

}  // namespace spillway
