// Defines the one exception type. Its status becomes the exit status of the process.
#pragma once

#include <stdexcept>
#include <string>

namespace spillway {

enum class Status : int {
  done = 0,
  bad_input = 2,   // an input is wrong; the message names the file, key or line
  cannot_fit = 3,  // memory or storage is too small; the message says how much is needed
  storage = 4,     // storage failed; the run can be resumed
  damaged = 5,     // a file or spilled data is damaged
  peer_lost = 6,   // another rank is gone
  non_finite = 7,  // the loss is not finite, and `non_finite: stop` is set
  device = 8,      // the device failed; the run can be resumed
  requeue = 75,    // stopped by a signal or max_time, after a checkpoint
};

// An Error ends the run. `what()` is one line that tells a user what to do. Mistakes of the program
// itself are assertions or std::logic_error instead.
class Error : public std::runtime_error {
 public:
  Error(Status status, std::string const& what) : std::runtime_error(what), m_status(status) {}
  Status status() const { return m_status; }

 private:
  Status m_status;
};

}  // namespace spillway
