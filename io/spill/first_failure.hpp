// Keeps the first failure of a spill file, because later ones are often consequences of it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "io/ring/transfer_queue.hpp"

namespace spillway {

// Any thread may use a FirstFailure at any time.
class FirstFailure {
 public:
  // Notes that a transfer has failed. `error` is an errno, or 0 if the bytes that were read are not
  // those that were written. Does not allocate.
  void note(TransferRequest const& transfer, int error) noexcept;
  // Notes that storage has not answered for `patience_s` seconds. `outstanding` lists the requests
  // that it has not answered.
  void note_silence(double patience_s, std::string const& outstanding);
  void forget();

  std::string text() const;  // one line; empty if nothing has failed

 private:
  mutable std::mutex m_mutex;
  bool m_some = false;
  TransferRequest m_transfer;
  int m_error = 0;
  std::string m_silence;  // the message of note_silence; empty if no silence was noted
};

}  // namespace spillway
