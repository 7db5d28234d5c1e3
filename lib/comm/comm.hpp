// A Comm lets ranks exchange bytes. It adds no numbers: callers gather them and add them in the
// order of ranks, so that sums depend neither on the MPI library nor on when messages arrive.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/rank_range.hpp"

namespace spillway {

// A ByteSlice is the bytes [first, first + bytes) of a buffer.
struct ByteSlice {
  std::int64_t first = 0, bytes = 0;
};

struct CommSettings {
  double patience_s = 1800;  // how long to wait without a sign of life until a peer counts as lost
  double sign_s = 2;         // the shortest time between two signs of life that a rank gives
};

// All ranks must call all_to_all, all_gather, all_gather_bytes and agree in the same order, and
// must destroy their Comms together. Only one thread of a rank at a time may use a Comm, and
// exchanges check that. Methods that exchange bytes return when the bytes have arrived, mostly
// sleep while they wait, and throw Error(peer_lost) if a peer is gone; then only `abort` may be
// called. Methods allocate nothing unless they throw, but the MPI library may while it sends or
// receives.
class Comm {
 public:
  virtual ~Comm() = default;
  Comm(Comm const&) = delete;
  Comm& operator=(Comm const&) = delete;

  int rank() const { return m_topology.rank; }
  int size() const { return m_topology.size; }
  int local_rank() const { return m_topology.local_rank; }  // this rank's number on its node
  int local_size() const { return m_topology.local_size; }
  int node_leader() const { return m_topology.node_leader; }  // the lowest rank of this rank's node

  // Sends bytes `slices[r]` of this rank's `send` to every other rank r. The lengths in `slices`
  // are equal on all ranks. `parts` consists of size() ranges of equal length, one for each rank.
  // What rank r sends is written to the beginning of range r; the rest of each range, and this
  // rank's own range, do not change.
  void all_to_all(std::span<std::byte const> send, std::span<std::byte> parts,
                  std::span<ByteSlice const> slices);

  // Sends bytes `slices[rank()]` of this rank's `whole` to all other ranks, which store them in the
  // same range of their `whole`. `slices` is equal on all ranks.
  void all_gather(std::span<std::byte> whole, std::span<ByteSlice const> slices);
  // Does so among the ranks of `group`, of which this rank is one: `slices[n]` belongs to its rank
  // `group.rank(n)`. Each rank calls it with the group that it is in.
  void all_gather(std::span<std::byte> whole, std::span<ByteSlice const> slices,
                  RankRange const& group);

  // Stores `one` of every rank in `all`, in the order of ranks; `all` is size() times as long. The
  // function takes about log2(size()) rounds with one peer each, which suits small messages that
  // are sent often.
  void all_gather_bytes(std::span<std::byte const> one, std::span<std::byte> all);

  // Exchanges bytes with one peer. The peer must call `swap` with this rank's number. Each side
  // receives exactly as many bytes as the other one sends.
  void swap(int peer, std::span<std::byte const> send_bytes, std::span<std::byte> receive_bytes);

  int agree(int value);  // returns the largest `value` of all ranks

  // Tells the other ranks that this rank is busy and alive, so that a rank that waits for it begins
  // its patience anew. A rank that is busy for long should call still_here often, as that is cheap.
  // The function is not collective and never waits.
  virtual void still_here() {}

  // From now on, this rank takes a peer for lost after it has waited this many seconds without a
  // sign of life.
  virtual void set_patience(double) {}

  // Returns for each peer how many seconds this rank has waited in all_to_all, all_gather and swap
  // calls in which that peer's message was the last to come.
  std::span<double const> waited_s() const { return m_waited_s; }
  void forget_waits();  // sets the seconds of waited_s() to 0

  // Ends the processes of all ranks at once, whatever they are doing. The launcher may replace the
  // exit status `status` by its own.
  [[noreturn]] virtual void abort(int status) = 0;

 protected:
  struct Topology {
    int rank = 0, size = 1, local_rank = 0, local_size = 1, node_leader = 0;
  };
  explicit Comm(Topology topology);

  struct Outgoing {
    int to;
    std::span<std::byte const> bytes;
  };
  struct Incoming {
    int from;
    std::span<std::byte> bytes;
  };
  enum class Traffic { data, control };
  // Sends and receives messages between this rank and others. Both sides know the sizes. Empty
  // messages are not sent. Messages between two ranks keep their order.
  virtual void exchange(Traffic traffic, std::span<Outgoing const> outgoing,
                        std::span<Incoming const> incoming) = 0;

  void count_wait(int peer, double seconds) {
    m_waited_s[static_cast<std::size_t>(peer)] += seconds;
  }

 private:
  class Turn;
  void begin();
  void send(int to, std::span<std::byte const> bytes);
  void receive(int from, std::span<std::byte> bytes);

  Topology m_topology;
  std::vector<Outgoing> m_outgoing;  // messages of the call in progress; reserved once
  std::vector<Incoming> m_incoming;
  std::vector<std::byte> m_values;  // what agree() exchanges
  std::vector<double> m_waited_s;
  std::atomic<bool> m_in_use = false;
};

// Makes the Comm of a run with one rank, which needs neither MPI nor a launcher.
std::unique_ptr<Comm> make_single_rank_comm();

}  // namespace spillway
