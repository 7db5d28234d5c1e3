// Signs of life are tiny messages beside all others: a rank that is busy for long says that it is
// alive, and so does a rank that waits for long. Only sources of this folder may include this
// header, because it includes mpi.h.
#pragma once

#include <mpi.h>

#include <vector>

#include "base/steady_clock.hpp"

namespace spillway {

// Throws Error(peer_lost) with MPI's own explanation if `code` says that `call` failed.
void check_mpi(int code, char const* call);

enum class Sign : char { busy = 1, waiting = 2, last = 3 };

// Only the constructor allocates, and only `end` waits. A SignsOfLife serves one thread at a time.
class SignsOfLife {
 public:
  // Signs are sent on `comm`, which the caller keeps, with a tag of their own. A peer gets at most
  // one sign in `every_s` seconds.
  SignsOfLife(MPI_Comm comm, double every_s);
  SignsOfLife(SignsOfLife const&) = delete;
  SignsOfLife& operator=(SignsOfLife const&) = delete;

  // Sends a sign to each peer that has received the last one, at most once in `every_s` seconds.
  void give(Sign sign);
  // Receives the signs that have come. Returns whether one came from a peer that does not wait.
  // Signs of peers that wait do not count, so that ranks that wait do not make each other wait
  // longer.
  bool hear();
  // Returns whether, since this rank last gave a sign, a peer has said that it waits.
  bool is_asked() const { return m_asked; }
  void note(int peer);  // notes that a message of `peer` has come
  // Returns the seconds since the last message of `peer`, or since this object was made.
  double silent_s(int peer) const;
  void set_every(double seconds) { m_every_s = seconds; }
  // Exchanges last signs with all peers, so that each rank receives all that was sent to it. Every
  // rank must call `end` once before the communicator is freed. Gives up after `patience_s` seconds
  // without a sign.
  void end(double patience_s) noexcept;

 private:
  void listen();
  void give_last();
  bool all_is_sent();
  bool all_have_ended() const;

  MPI_Comm m_comm;
  double m_every_s;
  SteadyClock::time_point m_given = SteadyClock::now();
  std::vector<SteadyClock::time_point> m_heard_at;  // when each rank's last message came
  std::vector<int> m_peers;
  std::vector<MPI_Request> m_sending;  // the sign under way to each peer
  MPI_Request m_listening = MPI_REQUEST_NULL;
  Sign m_heard{};
  bool m_asked = false;
  std::size_t m_ended = 0;  // how many peers have sent their last sign
};

}  // namespace spillway
