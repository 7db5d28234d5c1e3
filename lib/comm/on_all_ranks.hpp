// Stages that every rank passes or none: an error on one rank ends all of them alike, said once.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "comm/gathered.hpp"

namespace spillway {

// An error that all ranks know of. Its text is empty on those that need not speak.
class AgreedError : public Error {
 public:
  using Error::Error;
};

// Runs `stage` on every rank and waits for all. If it threw an Error anywhere, every rank throws
// AgreedError with the status of the lowest rank that failed; only that rank keeps the text.
// The stage itself must not communicate, but for Comm::still_here: one that may last for long calls
// it as it goes on.
template <class Stage>
void on_all_ranks(Comm& comm, Stage const& stage) {
  std::optional<Error> failure;
  try {
    stage();
  } catch (Error const& error) {
    if (error.status() == Status::peer_lost) throw;  // nobody is left to agree with
    failure = error;
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
