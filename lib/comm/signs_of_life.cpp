#include "comm/signs_of_life.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "comm/backoff.hpp"

namespace spillway {
namespace {

constexpr int kSignTag = 2;
// MPI may read these values as long as a message is on its way, so they must never be destroyed.
constexpr Sign kBusy = Sign::busy, kWaiting = Sign::waiting, kLast = Sign::last;

}  // namespace

void check_mpi(int code, char const* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0, rank = 0;
  MPI_Error_string(code, text, &length);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  throw Error(Status::peer_lost,
              fmt::format("rank {}: {}: {}; a peer is probably gone", rank, call, text));
}

SignsOfLife::SignsOfLife(MPI_Comm comm, double every_s) : m_comm(comm), m_every_s(every_s) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int peer = 0; peer < size; ++peer)
    if (peer != rank) m_peers.push_back(peer);
  m_sending.assign(m_peers.size(), MPI_REQUEST_NULL);
  m_heard_at.assign(static_cast<std::size_t>(size), SteadyClock::now());
  listen();
}

// Begins to receive the next sign from any peer. Signs of one peer keep their order, so its last
// sign comes last.
void SignsOfLife::listen() {
  if (all_have_ended()) return;
  check_mpi(MPI_Irecv(&m_heard, 1, MPI_CHAR, MPI_ANY_SOURCE, kSignTag, m_comm, &m_listening),
            "MPI_Irecv");
}

void SignsOfLife::give(Sign sign) {
  if (m_peers.empty() || seconds_since(m_given) < m_every_s) return;
  m_given = SteadyClock::now();
  hear();
  m_asked = false;
  for (std::size_t i = 0; i < m_peers.size(); ++i) {
    int sent = 0;
    check_mpi(MPI_Test(&m_sending[i], &sent, MPI_STATUS_IGNORE), "MPI_Test");
    if (sent == 0) continue;
    check_mpi(MPI_Isend(sign == Sign::busy ? &kBusy : &kWaiting, 1, MPI_CHAR, m_peers[i], kSignTag,
                        m_comm, &m_sending[i]),
              "MPI_Isend");
  }
}

bool SignsOfLife::hear() {
  bool busy = false;
  while (m_listening != MPI_REQUEST_NULL) {
    int came = 0;
    MPI_Status from{};
    check_mpi(MPI_Test(&m_listening, &came, &from), "MPI_Test");
    if (came == 0) break;
    note(from.MPI_SOURCE);
    m_asked = m_asked || m_heard == Sign::waiting;
    busy = busy || m_heard != Sign::waiting;
    m_ended += m_heard == Sign::last;
    listen();
  }
  return busy;
}

void SignsOfLife::note(int peer) {
  m_heard_at[static_cast<std::size_t>(peer)] = SteadyClock::now();
}

double SignsOfLife::silent_s(int peer) const {
  return seconds_since(m_heard_at[static_cast<std::size_t>(peer)]);
}

bool SignsOfLife::all_have_ended() const {
  return m_ended == m_peers.size();
}

bool SignsOfLife::all_is_sent() {
  int sent = 0;
  check_mpi(
      MPI_Testall(static_cast<int>(m_sending.size()), m_sending.data(), &sent, MPI_STATUSES_IGNORE),
      "MPI_Testall");
  return sent != 0;
}

void SignsOfLife::give_last() {
  for (std::size_t i = 0; i < m_peers.size(); ++i) {
    check_mpi(MPI_Isend(&kLast, 1, MPI_CHAR, m_peers[i], kSignTag, m_comm, &m_sending[i]),
              "MPI_Isend");
  }
}

void SignsOfLife::end(double patience_s) noexcept try {
  Backoff backoff;
  bool last_given = false;
  while (!(last_given && all_have_ended() && all_is_sent())) {
    if (!last_given && all_is_sent()) {
      give_last();
      last_given = true;
    }
    if (hear()) backoff.restart();
    backoff.pause();
    if (backoff.waited_s() > patience_s) return;
  }
} catch (Error const&) {  // a peer is gone, so no last signs can be exchanged
}

}  // namespace spillway
