// The one exception type. A status is the process's exit status (see docs: "Exit status").
#pragma once

#include <stdexcept>
#include <string>

namespace spillway {

enum class Status : int {
  done = 0,
  bad_input = 2,   // file, key or line named; nothing started
  cannot_fit = 3,  // the smallest budget that would is named
  storage = 4,     // storage failed; the run can be resumed
  damaged = 5,     // data is damaged
  peer_lost = 6,   // another rank is gone
  non_finite = 7,  // the loss is not finite and `non_finite: stop`
  device = 8,      // the device failed; the run can be resumed
  requeue = 75,    // stopped on a signal (or max_time) after a checkpoint
};

// Ends the run. `what()` is one line a person can act on. Our own mistakes are assertions instead.
class Error : public std::runtime_error {
 public:
  Error(Status status, std::string const& what) : std::runtime_error(what), m_status(status) {}
  Status status() const { return m_status; }

 private:
  Status m_status;
};

}  // namespace spillway
