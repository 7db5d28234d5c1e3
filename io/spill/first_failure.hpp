// Keeps the first failure of a spill file, because later ones are often consequences of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "io/ring/transfer_queue.hpp"
#include "io/spill/directories.hpp"

namespace spillway {

// Any thread may use a FirstFailure at any time.
class FirstFailure {
 public:
  explicit FirstFailure(Directories directories) : m_directories(std::move(directories)) {}

  // Notes that a transfer has failed. `error` is an errno, or 0 if the bytes that were read are not
  // those that were written. `drive` is the place in the list of the directory to blame; nothing
  // means that it may be any. Does not allocate.
  void note(TransferRequest const& transfer, int error, std::optional<std::size_t> drive) noexcept;
  // Notes that storage has not answered for `patience_s` seconds. `outstanding` lists the requests
  // that it has not answered.
  void note_silence(double patience_s, std::string const& outstanding);
  void forget();

  // Returns one line about the failure, with the directory, or "" if nothing has failed.
  std::string text() const;

 private:
  std::string words() const;

  Directories m_directories;
  mutable std::mutex m_mutex;
  bool m_some = false;
  TransferRequest m_transfer;
  int m_error = 0;
  std::optional<std::size_t> m_drive;
  std::string m_silence;  // the message of note_silence; empty if no silence was noted
};

}  // namespace spillway
