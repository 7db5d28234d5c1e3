#include "comm/mpi_scope.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/error.hpp"
#include "comm/backoff.hpp"
#include "comm/signs_of_life.hpp"

namespace spillway {
namespace {

constexpr int kTag = 1;
// One message of MPI; also far below the 2 GiB that its counts can name. Several in a row show
// that a peer is alive while a large one is under way.
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

// The part of a message that travels in round `round`.
template <class Byte>
std::span<Byte> piece(std::span<Byte> bytes, std::size_t round) {
  auto const limit = static_cast<std::size_t>(kPieceBytes);
  auto const first = std::min(round * limit, bytes.size());
  return bytes.subspan(first, std::min(limit, bytes.size() - first));
}

class MpiComm final : public Comm {
 public:
  // Takes `comm`; `node` (the ranks on this node) is only asked.
  MpiComm(MPI_Comm comm, MPI_Comm node, CommSettings const& settings)
      : Comm({rank_of(comm), size_of(comm), rank_of(node), size_of(node)}),
        m_comm(comm),
        m_settings(settings),
        m_signs(comm, settings.sign_s) {
    auto const most = 2 * static_cast<std::size_t>(size());
    m_requests.reserve(most);
    m_done.resize(most);
  }
  ~MpiComm() override {
    m_signs.end(m_settings.patience_s);
    MPI_Comm_free(&m_comm);
  }

  void still_here() override { m_signs.give(); }

  [[noreturn]] void abort(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }

  // Opens the connection of every pair with a message as long as those to come, one peer at a time:
  // what that takes does not grow with the ranks.
  void meet_peers() {
    std::vector<std::byte> const ours(kFirstMessageBytes);
    std::vector<std::byte> theirs(kFirstMessageBytes);
    for (int distance = 1; distance < size(); ++distance) {
      Outgoing const outgoing{(rank() + distance) % size(), ours};
      Incoming const incoming{(rank() - distance + size()) % size(), theirs};
      exchange({&outgoing, 1}, {&incoming, 1});
    }
  }

 private:
  void exchange(std::span<Outgoing const> outgoing, std::span<Incoming const> incoming) override {
    std::size_t longest = 0;
    for (auto const& message : outgoing) longest = std::max(longest, message.bytes.size());
    for (auto const& message : incoming) longest = std::max(longest, message.bytes.size());
    auto const limit = static_cast<std::size_t>(kPieceBytes);
    for (std::size_t round = 0; round * limit < longest; ++round) {
      start_round(outgoing, incoming, round);
      wait_all();
    }
  }

  void start_round(std::span<Outgoing const> outgoing, std::span<Incoming const> incoming,
                   std::size_t round) {
    m_requests.clear();
    for (auto const& message : incoming) {
      auto const bytes = piece(message.bytes, round);
      if (bytes.empty()) continue;
      check_mpi(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, message.from,
                          kTag, m_comm, &m_requests.emplace_back()),
                "MPI_Irecv");
    }
    for (auto const& message : outgoing) {
      auto const bytes = piece(message.bytes, round);
      if (bytes.empty()) continue;
      check_mpi(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, message.to, kTag,
                          m_comm, &m_requests.emplace_back()),
                "MPI_Isend");
    }
  }

  // MPI moves data only inside its calls, and its own waiting burns a core that compute needs.
  void wait_all() {
    Backoff backoff;
    auto left = m_requests.size();
    while (left > 0) {
      int done = 0;
      check_mpi(MPI_Testsome(static_cast<int>(m_requests.size()), m_requests.data(), &done,
                             m_done.data(), MPI_STATUSES_IGNORE),
                "MPI_Testsome");
      if (done == MPI_UNDEFINED) break;
      left -= static_cast<std::size_t>(done);
      if (done > 0 || m_signs.hear()) {
        backoff.restart();
      } else {
        backoff.pause();
        give_up_after(backoff.waited_s());
      }
    }
  }

  void give_up_after(double waited_s) const {
    if (waited_s < m_settings.patience_s) return;
    throw Error(Status::peer_lost,
                fmt::format("rank {}: no word from a peer for {:.0f} s", rank(), waited_s));
  }

  MPI_Comm m_comm;
  CommSettings m_settings;
  SignsOfLife m_signs;
  std::vector<MPI_Request> m_requests;
  std::vector<int> m_done;
};

}  // namespace

MpiScope::MpiScope(int& argc, char**& argv) {
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    throw Error(Status::bad_input, "MPI does not start; see its messages above");
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    throw Error(Status::bad_input,
                "this MPI cannot be called by other threads than main (MPI_THREAD_SERIALIZED); "
                "use a build of it with thread support");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

MpiScope::~MpiScope() {
  MPI_Finalize();
}

std::unique_ptr<Comm> make_world_comm(CommSettings const& settings) {
  MPI_Comm world = MPI_COMM_NULL, node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  check_mpi(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
            "MPI_Comm_split_type");
  auto comm = std::make_unique<MpiComm>(world, node, settings);
  MPI_Comm_free(&node);
  comm->meet_peers();
  return comm;
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string const line(text, static_cast<std::size_t>(length));
  return line.substr(0, line.find_first_of(",\n"));
}

}  // namespace spillway
