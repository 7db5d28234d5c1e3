// Tiny messages beside all others: who is busy for long tells that it lives, and so does who waits
// for long. Knows MPI; only for this library's sources.
#pragma once

#include <mpi.h>

#include <vector>

#include "base/steady_clock.hpp"

namespace spillway {

// Throws Error(peer_lost) with MPI's own words where a call failed.
void check_mpi(int code, char const* call);

enum class Sign : char { busy = 1, waiting = 2, last = 3 };

// Nothing but the constructor allocates, nothing waits but `end`. One thread at a time.
class SignsOfLife {
 public:
  // On `comm`, which it does not own, with a tag of its own; at most one sign in `every_s`.
  SignsOfLife(MPI_Comm comm, double every_s);
  SignsOfLife(SignsOfLife const&) = delete;
  SignsOfLife& operator=(SignsOfLife const&) = delete;

  // To every peer that has taken the one before.
  void give(Sign sign);
  // Takes what has come; whether somebody is busy. Those who wait do not make others wait longer.
  bool hear();
  // Whether somebody has said that it waits since this rank has last said anything.
  bool is_asked() const { return m_asked; }
  void note(int peer);  // something else has come from it
  // Since anything of a peer was heard, or since the beginning.
  double silent_s(int peer) const;
  void set_every(double seconds) { m_every_s = seconds; }
  // Once, on all ranks, before the communicator's end: each takes what was sent to it. Gives up
  // after `patience_s` without a word.
  void end(double patience_s) noexcept;

 private:
  void listen();
  void give_last();
  bool all_is_sent();
  bool all_have_ended() const;

  MPI_Comm m_comm;
  double m_every_s;
  SteadyClock::time_point m_given = SteadyClock::now();
  std::vector<SteadyClock::time_point> m_heard_at;  // by rank
  std::vector<int> m_peers;
  std::vector<MPI_Request> m_sending;  // by peer
  MPI_Request m_listening = MPI_REQUEST_NULL;
  Sign m_heard{};
  bool m_asked = false;
  std::size_t m_ended = 0;  // peers whose last sign is here
};

}  // namespace spillway
