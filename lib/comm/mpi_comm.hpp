// The ranks of an MPI communicator. Knows MPI; only for this library's sources.
#pragma once

#include <mpi.h>

#include <array>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "comm/signs_of_life.hpp"

namespace spillway {

class MpiComm final : public Comm {
 public:
  // Takes both communicators, which have the same ranks: `data` for what a step moves, `control`
  // for the small messages beside it, which then never wait behind a large one. `node` (the ranks
  // on this node) is only asked.
  MpiComm(MPI_Comm data, MPI_Comm control, MPI_Comm node, CommSettings const& settings);
  ~MpiComm() override;

  void still_here() override { m_signs.give(Sign::busy); }
  void set_patience(double seconds) override;
  [[noreturn]] void abort(int status) override;

  // Opens the connection of every pair with a message as long as those to come, one peer at a time:
  // what that takes does not grow with the ranks.
  void meet_peers();

 private:
  using HostName = std::array<char, 64>;

  void exchange(Traffic traffic, std::span<Outgoing const> outgoing,
                std::span<Incoming const> incoming) override;
  void start_round(MPI_Comm comm, std::span<Outgoing const> outgoing,
                   std::span<Incoming const> incoming, std::size_t round);
  int wait_all();
  void give_up_after(double waited_s);
  std::string whom_it_waits_for(double waited_s) const;

  MPI_Comm m_data, m_control;
  CommSettings m_settings;
  SignsOfLife m_signs;
  std::vector<std::string> m_hosts;     // by rank
  std::vector<MPI_Request> m_requests;  // of the round under way: receives, then sends
  std::vector<int> m_request_peers;     // of them
  std::size_t m_receives = 0;
  std::vector<int> m_done;
};

}  // namespace spillway
