#include "train/network_probe.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include "base/checksum.hpp"
#include "base/pages.hpp"
#include "base/steady_clock.hpp"
#include "comm/gathered.hpp"

namespace spillway {
namespace {

constexpr std::size_t kFirstBytes = std::size_t{1} << 18, kMostBytes = std::size_t{16} << 20;
constexpr double kWanted_s = 0.02;  // of an exchange that is long enough
constexpr int kRepetitions = 5;

// Ranks by node, in their order; `nodes[i][k]` is the k-th rank of the i-th node.
std::vector<std::vector<int>> ranks_by_node(Comm& comm) {
  std::map<int, std::vector<int>> by_leader;
  auto const leaders = gathered(comm, comm.node_leader());
  for (int rank = 0; rank < comm.size(); ++rank)
    by_leader[leaders[static_cast<std::size_t>(rank)]].push_back(rank);
  std::vector<std::vector<int>> nodes;
  for (auto& [leader, ranks] : by_leader) nodes.push_back(std::move(ranks));
  return nodes;
}

// The element beside `i` in a pair, of `count`; -1: the last one of an odd number has none.
int partner(int i, std::size_t count) {
  int const other = i ^ 1;
  return other < static_cast<int>(count) ? other : -1;
}

int peer_on_node(std::vector<std::vector<int>> const& nodes, Comm const& comm) {
  for (auto const& ranks : nodes) {
    if (ranks.front() != comm.node_leader()) continue;
    int const other = partner(comm.local_rank(), ranks.size());
    return other < 0 ? -1 : ranks[static_cast<std::size_t>(other)];
  }
  return -1;
}

int peer_elsewhere(std::vector<std::vector<int>> const& nodes, Comm const& comm) {
  for (int node = 0; node < static_cast<int>(nodes.size()); ++node) {
    if (nodes[static_cast<std::size_t>(node)].front() != comm.node_leader()) continue;
    int const other = partner(node, nodes.size());
    if (other < 0) return -1;
    auto const& ranks = nodes[static_cast<std::size_t>(other)];
    auto const local = static_cast<std::size_t>(comm.local_rank());
    return local < ranks.size() ? ranks[local] : -1;
  }
  return -1;
}

// Of all ranks the longest time: those without a peer have none.
double swap_s(Comm& comm, int peer, std::span<std::byte> send, std::span<std::byte> receive) {
  auto const begin = SteadyClock::now();
  if (peer >= 0) comm.swap(peer, send, receive);
  double const mine = peer < 0 ? 0 : seconds_since(begin);
  return std::ranges::max(gathered(comm, mine));
}

// GB/s of the slowest pair. The length of an exchange follows from a first, short one.
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

}  // namespace

void probe_network(Machine& machine, Comm& comm) {
  auto const nodes = ranks_by_node(comm);
  Pages send(kMostBytes), receive(kMostBytes);
  machine.node_gbps = pairs_gbps(comm, peer_on_node(nodes, comm), send.all(), receive.all());
  machine.network_gbps = pairs_gbps(comm, peer_elsewhere(nodes, comm), send.all(), receive.all());
}

std::string network_name(Comm& comm) {
  std::array<char, 64> host{};
  gethostname(host.data(), host.size() - 1);
  std::string text;
  for (auto const& name : gathered(comm, host)) text += std::string(name.data()) + "\n";
  auto const sum = checksum(std::as_bytes(std::span(text)));
  return fmt::format("{} ranks on {} nodes, {:016x}", comm.size(), ranks_by_node(comm).size(), sum);
}

}  // namespace spillway
