#include "comm/comm.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"

namespace spillway {
namespace {

template <class Byte>
std::span<Byte> part(std::span<Byte> whole, ByteSlice range) {
  check(range.first >= 0 && range.bytes >= 0 && range.first + range.bytes <= std::ssize(whole),
        "a message", "reaches beyond its bytes");
  return whole.subspan(static_cast<std::size_t>(range.first),
                       static_cast<std::size_t>(range.bytes));
}

// Returns the bytes of `rank` in a buffer that has `bytes` bytes for each rank, in the order of
// ranks.
template <class Byte>
std::span<Byte> bytes_of_rank(std::span<Byte> all, int rank, std::size_t bytes) {
  return all.subspan(static_cast<std::size_t>(rank) * bytes, bytes);
}

}  // namespace

// Two threads that exchange bytes at once would mix up their messages with those of other ranks.
class Comm::Turn {
 public:
  explicit Turn(Comm& comm) : m_in_use(comm.m_in_use) {
    check(!m_in_use.exchange(true), "a message", "begins on one thread amid another thread's");
  }
  ~Turn() { m_in_use = false; }
  Turn(Turn const&) = delete;
  Turn& operator=(Turn const&) = delete;

 private:
  std::atomic<bool>& m_in_use;
};

Comm::Comm(Topology topology)
    : m_topology(topology),
      m_values((static_cast<std::size_t>(topology.size) + 1) * sizeof(int)),
      m_waited_s(static_cast<std::size_t>(topology.size)) {
  m_outgoing.reserve(static_cast<std::size_t>(topology.size) + 1);
  m_incoming.reserve(static_cast<std::size_t>(topology.size) + 1);
}

void Comm::forget_waits() {
  std::ranges::fill(m_waited_s, 0.0);
}

void Comm::begin() {
  m_outgoing.clear();
  m_incoming.clear();
}

void Comm::send(int to, std::span<std::byte const> bytes) {
  if (to != rank() && !bytes.empty()) m_outgoing.push_back({to, bytes});
}

void Comm::receive(int from, std::span<std::byte> bytes) {
  if (from != rank() && !bytes.empty()) m_incoming.push_back({from, bytes});
}

void Comm::all_to_all(std::span<std::byte const> send_bytes, std::span<std::byte> parts,
                      std::span<ByteSlice const> slices) {
  Turn const turn(*this);
  auto const length = static_cast<std::size_t>(slices[static_cast<std::size_t>(rank())].bytes);
  auto const stride = parts.size() / static_cast<std::size_t>(size());
  begin();
  for (int r = 0; r < size(); ++r) {
    send(r, part(send_bytes, slices[static_cast<std::size_t>(r)]));
    receive(r, bytes_of_rank(parts, r, stride).first(length));
  }
  exchange(Traffic::data, m_outgoing, m_incoming);
}

void Comm::all_gather(std::span<std::byte> whole, std::span<ByteSlice const> slices) {
  all_gather(whole, slices, all_ranks(size()));
}

void Comm::all_gather(std::span<std::byte> whole, std::span<ByteSlice const> slices,
                      RankRange const& group) {
  Turn const turn(*this);
  check(std::ssize(slices) == group.count && group.has(rank()), "all_gather",
        "this rank is not in the group, or there is not one slice for each of it");
  auto const number = static_cast<std::size_t>(group.number_of(rank()));
  begin();
  for (std::size_t n = 0; n < slices.size(); ++n) {
    auto const peer = static_cast<int>(group.rank(static_cast<std::int64_t>(n)));
    send(peer, part(whole, slices[number]));
    receive(peer, part(whole, slices[n]));
  }
  exchange(Traffic::data, m_outgoing, m_incoming);
}

// This is Bruck's algorithm. Before a round, each rank has the values of `known` ranks: its own and
// those of the ranks after it, modulo size(). In the round, the rank that comes `known` ranks later
// sends it the values of up to `known` more ranks.
void Comm::all_gather_bytes(std::span<std::byte const> one, std::span<std::byte> all) {
  Turn const turn(*this);
  check(all.size() == one.size() * static_cast<std::size_t>(size()), "all_gather",
        "there is not one block for every rank");
  auto const own = bytes_of_rank(all, rank(), one.size());
  if (own.data() != one.data() && !one.empty()) std::memcpy(own.data(), one.data(), one.size());
  auto const bytes_of_ranks = [&](int first, int count) {
    auto const bytes = static_cast<std::size_t>(count) * one.size();
    return all.subspan(static_cast<std::size_t>(first) * one.size(), bytes);
  };
  for (int known = 1; known < size(); known *= 2) {
    int const count = std::min(known, size() - known);
    int const to = (rank() - known + size()) % size(), from = (rank() + known) % size();
    int const ours = std::min(count, size() - rank()), theirs = std::min(count, size() - from);
    begin();
    send(to, bytes_of_ranks(rank(), ours));
    send(to, bytes_of_ranks(0, count - ours));
    receive(from, bytes_of_ranks(from, theirs));
    receive(from, bytes_of_ranks(0, count - theirs));
    exchange(Traffic::control, m_outgoing, m_incoming);
  }
}

void Comm::swap(int peer, std::span<std::byte const> send_bytes,
                std::span<std::byte> receive_bytes) {
  Turn const turn(*this);
  begin();
  send(peer, send_bytes);
  receive(peer, receive_bytes);
  exchange(Traffic::data, m_outgoing, m_incoming);
}

int Comm::agree(int value) {
  std::span const all(m_values.data(), m_values.size() - sizeof value);
  std::span const own(m_values.data() + all.size(), sizeof value);
  std::memcpy(own.data(), &value, sizeof value);
  all_gather_bytes(own, all);
  for (int r = 0; r < size(); ++r) {
    int theirs = 0;
    std::memcpy(&theirs, bytes_of_rank(all, r, sizeof value).data(), sizeof theirs);
    value = std::max(value, theirs);
  }
  return value;
}

}  // namespace spillway
