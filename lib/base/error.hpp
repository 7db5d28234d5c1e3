// Defines the exception for all failures that are no mistakes of the program. Its status becomes
// the exit status of the process.
#pragma once

#include <stdexcept>
#include <string>

namespace spillway {

enum class Status : int {
  done = 0,
  bad_input = 2,   // an input or setting is wrong; the message names it
  cannot_fit = 3,  // memory or storage is too small
  storage = 4,     // reading or writing a file, or writing to stdout, failed
  damaged = 5,     // a file, spilled data or a gradient is damaged
  peer_lost = 6,   // another rank has ended or does not answer
  non_finite = 7,  // a loss, a gradient norm or a logit is infinite or NaN
  device = 8,      // a device failed; the run can be resumed
  requeue = 75,    // a signal or run.max_time stopped the run; it can be resumed
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
