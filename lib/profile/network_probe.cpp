#include "profile/network_probe.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/checksum.hpp"
#include "base/pages.hpp"
#include "base/steady_clock.hpp"
#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"
#include "profile/pairs.hpp"

namespace spillway {
namespace {

constexpr std::size_t kFirstBytes = std::size_t{1} << 18, kMostBytes = std::size_t{16} << 20;
constexpr double kWanted_s = 0.02;  // an exchange of this length can be measured well
constexpr int kRepetitions = 5;

// Returns the time of the slowest rank. Ranks without a peer count as 0 s.
double swap_s(Comm& comm, int peer, std::span<std::byte> send, std::span<std::byte> receive) {
  auto const begin = SteadyClock::now();
  if (peer >= 0) comm.swap(peer, send, receive);
  double const mine = peer < 0 ? 0 : seconds_since(begin);
  return std::ranges::max(gathered(comm, mine));
}

// Returns the GB/s of the slowest pair, or 0 if there is no pair. How much is exchanged follows
// from the time of a first, short exchange.
double pairs_gbps(Comm& comm, int peer, std::span<std::byte> send, std::span<std::byte> receive) {
  if (std::ranges::max(gathered(comm, peer)) < 0) return 0;
  auto const swap = [&](std::size_t bytes) {
    return swap_s(comm, peer, send.first(bytes), receive.first(bytes));
  };
  swap(kFirstBytes);
  auto const wanted = static_cast<double>(kFirstBytes) * kWanted_s / swap(kFirstBytes);
  auto const bytes =
      static_cast<std::size_t>(std::clamp(wanted, double(kFirstBytes), double(kMostBytes)));
  std::array<double, kRepetitions> times{};
  for (auto& s : times) s = swap(bytes);
  std::ranges::sort(times);
  return static_cast<double>(bytes) / times[kRepetitions / 2] * 1e-9;
}

// Returns the lower one of the rates that rounds 0 and 1 give, or the only one that is known.
template <class Peer>
double slowest_gbps(Comm& comm, Peer const& peer, std::span<std::byte> send,
                    std::span<std::byte> receive) {
  auto const first = pairs_gbps(comm, peer(0), send, receive);
  auto const second = pairs_gbps(comm, peer(1), send, receive);
  return first > 0 && second > 0 ? std::min(first, second) : std::max(first, second);
}

Pages memory() {
  return Pages(kMostBytes, "memory to measure the network with");
}

}  // namespace

void probe_network(Machine& machine, Comm& comm) {
  auto const nodes = ranks_by_node(gathered(comm, comm.node_leader()));
  auto const here = place_on_node(nodes, comm.rank());
  Pages send, receive;
  on_all_ranks(comm, [&] { send = memory(), receive = memory(); });
  auto const on_node = [&](int round) { return peer_on_node(nodes, here, round); };
  auto const elsewhere = [&](int round) { return peer_elsewhere(nodes, here, round); };
  machine.node_gbps = slowest_gbps(comm, on_node, send.all(), receive.all());
  machine.network_gbps = slowest_gbps(comm, elsewhere, send.all(), receive.all());
}

std::string network_name(Comm& comm) {
  std::array<char, 64> host{};
  gethostname(host.data(), host.size() - 1);
  std::string text;
  for (auto const& name : gathered(comm, host)) text += std::string(name.data()) + "\n";
  auto const sum = checksum(std::as_bytes(std::span(text)));
  auto const nodes = ranks_by_node(gathered(comm, comm.node_leader())).size();
  return fmt::format("{} ranks on {} nodes, {:016x}", comm.size(), nodes, sum);
}

}  // namespace spillway
