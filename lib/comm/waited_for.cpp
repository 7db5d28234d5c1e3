#include "comm/waited_for.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace spillway {

std::string describe_wait(double waited_s, std::span<WaitedFor const> peers) {
  std::string silent, waiting;
  for (auto const& peer : peers) {
    bool const is_silent = peer.silent_s > waited_s / 2;
    auto& names = is_silent ? silent : waiting;
    if (is_silent || peer.has_message) names += (names.empty() ? "" : ", ") + peer.name;
  }
  if (silent.empty())
    return fmt::format("waited {:.0f} s for {}, which waits too", waited_s, waiting);
  return fmt::format(
      "no word from {} for {:.0f} s (run.peer_timeout): stopped, stuck in a call, or gone", silent,
      waited_s);
}

std::string rank_name(std::span<std::string const> hosts, int rank) {
  auto const& host = hosts[static_cast<std::size_t>(rank)];
  bool const elsewhere = std::ranges::any_of(hosts, [&](auto const& h) { return h != host; });
  return elsewhere ? fmt::format("rank {} ({})", rank, host) : fmt::format("rank {}", rank);
}

}  // namespace spillway
