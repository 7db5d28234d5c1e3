// An MpiComm is the Comm of an MPI communicator's ranks. Only sources of this folder may include
// this header, because it includes mpi.h.
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
  // Becomes the owner of `data` and `control`, which must have the same ranks. Steps move their
  // data by `data`. Small messages go by `control`, so that they never wait behind a large one.
  // `node` has the ranks on this rank's node, and the caller keeps it.
  MpiComm(MPI_Comm data, MPI_Comm control, MPI_Comm node, CommSettings const& settings);
  ~MpiComm() override;

  void still_here() override { m_signs.give(Sign::busy); }
  void set_patience(double seconds) override;
  [[noreturn]] void abort(int status) override;

  // Opens the connection to each peer with a message as large as those of steps, to one peer at a
  // time, so that the memory needed does not grow with the number of ranks. Exchanges host names.
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
  std::vector<std::string> m_hosts;     // the host of each rank
  std::vector<MPI_Request> m_requests;  // requests of the current round: receives, then sends
  std::vector<int> m_request_peers;     // the peer of each request
  std::size_t m_receives = 0;
  std::vector<int> m_done;
};

}  // namespace spillway
