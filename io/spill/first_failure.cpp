#include "io/spill/first_failure.hpp"

#include <fmt/core.h>

#include "base/error_text.hpp"
#include "io/file/file.hpp"

namespace spillway {

void FirstFailure::note(TransferRequest const& transfer, int error,
                        std::optional<std::size_t> drive) noexcept {
  std::lock_guard const lock(m_mutex);
  if (m_some) return;
  m_some = true;
  m_transfer = transfer;
  m_error = error;
  m_drive = drive;
}

void FirstFailure::note_silence(double patience_s, std::string const& outstanding) {
  std::lock_guard const lock(m_mutex);
  if (m_some) return;
  m_some = true;
  m_drive.reset();
  m_silence = fmt::format("no answer for {} s: {}", patience_s, outstanding);
}

void FirstFailure::forget() {
  std::lock_guard const lock(m_mutex);
  m_some = false;
  m_silence.clear();
}

std::string FirstFailure::text() const {
  std::lock_guard const lock(m_mutex);
  if (!m_some) return "";
  auto const where = m_drive ? m_directories.all[*m_drive] : m_directories.words();
  return fmt::format("spill file in {}: {}", where, m_silence.empty() ? words() : m_silence);
}

std::string FirstFailure::words() const {
  return fmt::format(
      "{} of {} bytes at {}: {}", m_transfer.direction == Direction::read ? "read" : "write",
      m_transfer.memory.size(), m_transfer.offset_bytes,
      m_error == 0 ? "not the bytes that were written (checksum differs)" : error_text(m_error));
}

}  // namespace spillway
