// What ranks say to each other. Bytes only: every reduction is a gather and a local sum in rank
// order, so results do not depend on the library or on arrival.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace spillway {

// Bytes [first, first + bytes) of a buffer.
struct ByteSlice {
  std::int64_t first = 0, bytes = 0;
};

struct CommSettings {
  double patience_s = 1800;  // of waiting without a word, before a peer counts as lost
  double sign_s = 2;         // between two signs of life
};

// All ranks call the same methods (but `swap` and `still_here`) in the same order, one thread at a
// time, and end together. Every method is synchronous for its caller, sleeps while it waits,
// allocates nothing, and throws Error(peer_lost) when a peer is gone; after that only `abort` may
// be called.
class Comm {
 public:
  virtual ~Comm() = default;
  Comm(Comm const&) = delete;
  Comm& operator=(Comm const&) = delete;

  int rank() const { return m_place.rank; }
  int size() const { return m_place.size; }
  int local_rank() const { return m_place.local_rank; }  // among the ranks of this node
  int local_size() const { return m_place.local_size; }
  int node_leader() const { return m_place.node_leader; }  // the lowest rank of this node

  // Range `slices[r]` of every rank's `send` goes to rank r. `parts`: size() blocks of equal
  // length, one per sending rank; each begins with what came from it, and its rest is left alone,
  // as is all of this rank's own.
  void all_to_all(std::span<std::byte const> send, std::span<std::byte> parts,
                  std::span<ByteSlice const> slices);

  // Range `slices[its rank]` of every rank's `whole` to the same range of all others'.
  void all_gather(std::span<std::byte> whole, std::span<ByteSlice const> slices);

  // `one` of every rank, in rank order; `all` is size() times as long.
  // In about log2(size()) rounds, each with one peer: for what is small and often said.
  void all_gather_bytes(std::span<std::byte const> one, std::span<std::byte> all);

  // Exchanges bytes with one peer, which calls it too, with this rank's number and as many bytes.
  void swap(int peer, std::span<std::byte const> send_bytes, std::span<std::byte> receive_bytes);

  int agree(int word);  // the largest of all ranks' words

  // Tells the others that this rank is busy and lives: those who wait for it, in whatever, begin
  // their patience anew. Cheap, to be called often by who is busy for long; not collective, and
  // never waits.
  virtual void still_here() {}

  // From now on a peer counts as lost after so many seconds of waiting without a word.
  virtual void set_patience(double) {}

  // By peer: seconds of exchanges of data for which this rank waited, that peer's message being the
  // last to come.
  std::span<double const> waited_s() const { return m_waited_s; }
  void forget_waits();  // they count from now on

  // Ends all ranks at once, from any state. The launcher may replace the status by its own.
  [[noreturn]] virtual void abort(int status) = 0;

 protected:
  struct Place {
    int rank = 0, size = 1, local_rank = 0, local_size = 1, node_leader = 0;
  };
  explicit Comm(Place place);

  struct Outgoing {
    int to;
    std::span<std::byte const> bytes;
  };
  struct Incoming {
    int from;
    std::span<std::byte> bytes;
  };
  enum class Traffic { data, control };
  // Moves messages between different ranks. Both sides know the sizes; empty messages are not sent;
  // those between two ranks keep their order.
  virtual void exchange(Traffic traffic, std::span<Outgoing const> outgoing,
                        std::span<Incoming const> incoming) = 0;

  void count_wait(int peer, double seconds) {
    m_waited_s[static_cast<std::size_t>(peer)] += seconds;
  }

 private:
  void begin();
  void send(int to, std::span<std::byte const> bytes);
  void receive(int from, std::span<std::byte> bytes);

  Place m_place;
  std::vector<Outgoing> m_outgoing;  // of the call in progress; made to fit once
  std::vector<Incoming> m_incoming;
  std::vector<std::byte> m_words;  // for agree
  std::vector<double> m_waited_s;
};

// One rank on its own; needs no library and no launcher.
std::unique_ptr<Comm> make_single_rank_comm();

}  // namespace spillway
