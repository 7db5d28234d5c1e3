#include "comm/mpi_comm.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/error.hpp"
#include "base/steady_clock.hpp"
#include "comm/backoff.hpp"
#include "comm/gathered.hpp"
#include "comm/waited_for.hpp"

namespace spillway {
namespace {

constexpr int kTag = 1;
// No message that MPI sees is longer than this, which is far below 2 GiB, the most that MPI's
// counts can name. A longer message is split, so that it also shows again and again that its sender
// is alive.
constexpr std::int64_t kPieceBytes = std::int64_t{32} << 20;
constexpr std::size_t kFirstMessageBytes = std::size_t{1} << 20;

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

int lowest_rank(MPI_Comm comm, MPI_Comm node) {
  int rank = rank_of(comm), lowest = rank;
  check_mpi(MPI_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, node), "MPI_Allreduce");
  return lowest;
}

// Returns the bytes of a message that are sent in round `round`.
template <class Byte>
std::span<Byte> piece(std::span<Byte> bytes, std::size_t round) {
  auto const limit = static_cast<std::size_t>(kPieceBytes);
  auto const first = std::min(round * limit, bytes.size());
  return bytes.subspan(first, std::min(limit, bytes.size() - first));
}

}  // namespace

MpiComm::MpiComm(MPI_Comm data, MPI_Comm control, MPI_Comm node, CommSettings const& settings)
    : Comm({rank_of(data), size_of(data), rank_of(node), size_of(node), lowest_rank(data, node)}),
      m_data(data),
      m_control(control),
      m_settings(settings),
      m_signs(control, settings.sign_s),
      m_hosts(static_cast<std::size_t>(size())) {
  set_patience(settings.patience_s);
  auto const most = 2 * static_cast<std::size_t>(size()) + 2;
  m_requests.reserve(most);
  m_request_peers.reserve(most);
  m_done.resize(most);
}

MpiComm::~MpiComm() {
  m_signs.end(m_settings.patience_s);
  MPI_Comm_free(&m_control);
  MPI_Comm_free(&m_data);
}

void MpiComm::set_patience(double seconds) {
  m_settings.patience_s = seconds;
  m_signs.set_every(std::min(m_settings.sign_s, seconds / 20));
}

void MpiComm::abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

void MpiComm::meet_peers() {
  std::vector<std::byte> const ours(kFirstMessageBytes);
  std::vector<std::byte> theirs(kFirstMessageBytes);
  for (int distance = 1; distance < size(); ++distance) {
    Outgoing const outgoing{(rank() + distance) % size(), ours};
    Incoming const incoming{(rank() - distance + size()) % size(), theirs};
    exchange(Traffic::data, {&outgoing, 1}, {&incoming, 1});
  }
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  HostName mine{};
  std::copy_n(name.begin(), std::min<std::size_t>(mine.size() - 1, name.size()), mine.begin());
  auto const names = gathered(*this, mine);  // until here, errors name ranks without their hosts
  for (std::size_t peer = 0; peer < names.size(); ++peer) m_hosts[peer] = names[peer].data();
  forget_waits();
}

void MpiComm::exchange(Traffic traffic, std::span<Outgoing const> outgoing,
                       std::span<Incoming const> incoming) {
  std::size_t longest = 0;
  for (auto const& message : outgoing) longest = std::max(longest, message.bytes.size());
  for (auto const& message : incoming) longest = std::max(longest, message.bytes.size());
  auto const limit = static_cast<std::size_t>(kPieceBytes);
  for (std::size_t round = 0; round * limit < longest; ++round) {
    start_round(traffic == Traffic::control ? m_control : m_data, outgoing, incoming, round);
    auto const begun = SteadyClock::now();
    int const last = wait_all();
    // Waits for control messages are not counted: the sender of the last one may itself have waited
    // for another rank.
    if (traffic == Traffic::data && last >= 0) count_wait(last, seconds_since(begun));
  }
}

void MpiComm::start_round(MPI_Comm comm, std::span<Outgoing const> outgoing,
                          std::span<Incoming const> incoming, std::size_t round) {
  m_requests.clear();
  m_request_peers.clear();
  for (auto const& message : incoming) {
    auto const bytes = piece(message.bytes, round);
    if (bytes.empty()) continue;
    m_request_peers.push_back(message.from);
    check_mpi(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, message.from, kTag,
                        comm, &m_requests.emplace_back()),
              "MPI_Irecv");
  }
  m_receives = m_requests.size();
  for (auto const& message : outgoing) {
    auto const bytes = piece(message.bytes, round);
    if (bytes.empty()) continue;
    m_request_peers.push_back(message.to);
    check_mpi(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, message.to, kTag,
                        comm, &m_requests.emplace_back()),
              "MPI_Isend");
  }
}

// Waits for all requests of a round. Returns the peer whose message came last, or -1 if none was to
// come. The function polls, because MPI moves data only inside its calls, and because MPI's own
// waiting would keep a core busy that compute needs.
int MpiComm::wait_all() {
  int last = -1;
  Backoff backoff;
  auto left = m_requests.size();
  while (left > 0) {
    int done = 0;
    check_mpi(MPI_Testsome(static_cast<int>(m_requests.size()), m_requests.data(), &done,
                           m_done.data(), MPI_STATUSES_IGNORE),
              "MPI_Testsome");
    if (done == MPI_UNDEFINED) break;
    for (int const number : std::span(m_done).first(static_cast<std::size_t>(done))) {
      auto const i = static_cast<std::size_t>(number);
      if (i >= m_receives) continue;
      last = m_request_peers[i];
      m_signs.note(last);
    }
    left -= static_cast<std::size_t>(done);
    if (done > 0 || m_signs.hear()) {
      backoff.restart();
    } else if (left > 0) {
      backoff.pause();
      give_up_after(backoff.waited_s());
    }
  }
  return last;
}

// A rank that waits for long sends signs of life, and other ranks that wait answer, so that a rank
// that gives up knows which peers are silent. Higher ranks give up a little later, so that usually
// only one reports the error.
void MpiComm::give_up_after(double waited_s) {
  auto const patience_s = m_settings.patience_s;
  if (2 * waited_s > patience_s || m_signs.is_asked()) m_signs.give(Sign::waiting);
  if (waited_s < patience_s + std::min(1.0, 0.02 * rank())) return;
  throw Error(Status::peer_lost, whom_it_waits_for(waited_s));
}

std::string MpiComm::whom_it_waits_for(double waited_s) const {
  std::set<int> waited_for;
  for (std::size_t i = 0; i < m_requests.size(); ++i)
    if (m_requests[i] != MPI_REQUEST_NULL) waited_for.insert(m_request_peers[i]);
  std::vector<WaitedFor> peers;
  for (int peer = 0; peer < size(); ++peer) {
    if (peer == rank()) continue;
    peers.push_back({rank_name(m_hosts, peer), m_signs.silent_s(peer), waited_for.contains(peer)});
  }
  return describe_wait(waited_s, peers);
}

}  // namespace spillway
