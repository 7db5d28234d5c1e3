#include "profile/network_probe.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <new>
#include <vector>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/pages.hpp"
#include "base/steady_clock.hpp"
#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"

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

// The element beside `i` in a pair, of `count`: in two rounds every one has had a neighbour. -1:
// none in this round.
int partner(int i, std::size_t count, int round) {
  int const other = ((i + round) ^ 1) - round;
  return other < static_cast<int>(count) ? other : -1;
}

int node_of(std::vector<std::vector<int>> const& nodes, Comm const& comm) {
  auto const first_rank = [](auto const& node) { return node.front(); };
  auto const here = std::ranges::find(nodes, comm.node_leader(), first_rank);
  return static_cast<int>(here - nodes.begin());
}

int peer_on_node(std::vector<std::vector<int>> const& nodes, Comm const& comm, int round) {
  auto const& ranks = nodes[static_cast<std::size_t>(node_of(nodes, comm))];
  int const other = partner(comm.local_rank(), ranks.size(), round);
  return other < 0 ? -1 : ranks[static_cast<std::size_t>(other)];
}

int peer_elsewhere(std::vector<std::vector<int>> const& nodes, Comm const& comm, int round) {
  int const other = partner(node_of(nodes, comm), nodes.size(), round);
  if (other < 0) return -1;
  auto const& ranks = nodes[static_cast<std::size_t>(other)];
  auto const local = static_cast<std::size_t>(comm.local_rank());
  return local < ranks.size() ? ranks[local] : -1;
}

// The time of the slowest rank; those without a peer take none.
double swap_s(Comm& comm, int peer, std::span<std::byte> send, std::span<std::byte> receive) {
  auto const begin = SteadyClock::now();
  if (peer >= 0) comm.swap(peer, send, receive);
  double const mine = peer < 0 ? 0 : seconds_since(begin);
  return std::ranges::max(gathered(comm, mine));
}

// GB/s of the slowest pair; 0: there is none. The length of an exchange follows from a first, short
// one.
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

// The lower of the rates that the two rounds have measured.
template <class Peer>
double slowest_gbps(Comm& comm, Peer const& peer, std::span<std::byte> send,
                    std::span<std::byte> receive) {
  auto const first = pairs_gbps(comm, peer(0), send, receive);
  auto const second = pairs_gbps(comm, peer(1), send, receive);
  return first > 0 && second > 0 ? std::min(first, second) : std::max(first, second);
}

Pages memory() {
  try {
    return Pages(kMostBytes);
  } catch (std::bad_alloc const&) {
    throw Error(Status::bad_input, "no memory to measure the network with");
  }
}

}  // namespace

void probe_network(Machine& machine, Comm& comm) {
  auto const nodes = ranks_by_node(comm);
  Pages send, receive;
  on_all_ranks(comm, [&] { send = memory(), receive = memory(); });
  auto const on_node = [&](int round) { return peer_on_node(nodes, comm, round); };
  auto const elsewhere = [&](int round) { return peer_elsewhere(nodes, comm, round); };
  machine.node_gbps = slowest_gbps(comm, on_node, send.all(), receive.all());
  machine.network_gbps = slowest_gbps(comm, elsewhere, send.all(), receive.all());
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
