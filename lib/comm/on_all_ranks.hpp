// on_all_ranks runs a stage that passes on all ranks or on none. An error on one rank becomes an
// error on all ranks, and only one rank reports it.
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>

#include "base/cannot_give.hpp"
#include "base/error.hpp"
#include "comm/gathered.hpp"

namespace spillway {

// An AgreedError is an error that all ranks know of. Its text is empty on the ranks that should not
// report it.
class AgreedError : public Error {
 public:
  using Error::Error;
};

// Runs `stage` on every rank and waits for all ranks. If `stage` throws an Error or std::bad_alloc
// on any rank, every rank throws AgreedError with the status of the lowest rank that failed. Only
// that rank keeps the text. An Error(peer_lost) is rethrown unchanged, since ranks cannot agree on
// it. `stage` must not communicate, except that a long stage calls Comm::still_here again and
// again.
template <class Stage>
void on_all_ranks(Comm& comm, Stage const& stage) {
  std::optional<Error> failure;
  try {
    stage();
  } catch (Error const& error) {
    if (error.status() == Status::peer_lost) throw;  // without the lost peer, ranks cannot agree
    failure = error;
  } catch (std::bad_alloc const&) {
    failure = no_more_memory();
  }
  int const mine = failure ? static_cast<int>(failure->status()) : 0;
  auto const statuses = gathered(comm, mine);
  for (std::size_t rank = 0; rank < statuses.size(); ++rank) {
    if (statuses[rank] == 0) continue;
    bool const speaks = static_cast<int>(rank) == comm.rank();
    throw AgreedError(static_cast<Status>(statuses[rank]), speaks ? failure->what() : "");
  }
}

}  // namespace spillway
