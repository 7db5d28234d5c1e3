// The first of a spill file's failures: what fails later is often a consequence of it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "io/ring/transfer_queue.hpp"

namespace spillway {

// By any thread.
class FirstFailure {
 public:
  // error: an errno, or 0 for bytes that are not those written. Does not allocate.
  void note(TransferRequest const& transfer, int error) noexcept;
  // Storage that has not answered for so long; `outstanding` is what was asked of it.
  void note_silence(double patience_s, std::string const& outstanding);
  void forget();

  std::string text() const;  // empty when there is none

 private:
  mutable std::mutex m_mutex;
  bool m_some = false;
  TransferRequest m_transfer;
  int m_error = 0;
  std::string m_silence;  // instead of the others
};

}  // namespace spillway
