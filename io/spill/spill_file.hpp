// One rank's spill space: a file without a name, gone with the process however it dies.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "io/file/file.hpp"
#include "io/ring/backends.hpp"
#include "io/spill/fault_injector.hpp"

namespace spillway {

enum class IoResult : std::uint8_t {
  ok,
  error,    // the system call failed, or the file is shorter than it should be
  corrupt,  // the bytes read are not the bytes written
};

// Counts since construction. seconds are those spent inside system calls.
struct SpillCounters {
  std::int64_t written_bytes = 0, read_bytes = 0;
  double write_s = 0, read_s = 0;
};

// Throws Error(bad_input) when no spill file can be made in `directory`.
void require_spill_place(std::filesystem::path const& directory);

struct SpillSettings {
  bool checksums = true;
  QueueSettings queue = {};
  double patience_s = 120;          // before storage that does not answer has failed for good
  FaultInjector* faults = nullptr;  // outlives the file
};

// An extent is a numbered range of the file that is written and read as a whole; the caller chooses
// its offset. read and write are synchronous, allocate nothing and do not throw; several threads
// may call them, and take turns. Transfers are cut into pieces that are under way together; where
// memory and offset have the same place in their pages, whole pages go by direct I/O, past the page
// cache.
class SpillFile {
 public:
  // Takes `size_bytes` of storage at once. Throws Error: cannot_fit when there is no such space
  // (needed and free bytes are named), bad_input when `directory` cannot be used or the backend
  // that is asked for cannot be had.
  SpillFile(std::filesystem::path const& directory, std::int64_t size_bytes, std::int64_t extents,
            SpillSettings const& settings);

  // [offset_bytes, offset_bytes + size) must lie inside the file.
  IoResult write(std::int64_t extent, std::int64_t offset_bytes,
                 std::span<std::byte const> from) noexcept;

  // Verifies against the extent's last write; `to` must have the size of that write.
  IoResult read(std::int64_t extent, std::int64_t offset_bytes, std::span<std::byte> to) noexcept;

  // One line about the first result that was not ok: what, which extent, why; or empty.
  std::string first_failure() const;

  // What is slower here than it could be, a line each: what is missing, what to change.
  std::vector<std::string> const& advice() const { return m_advice; }
  char const* backend() const { return m_queue->backend(); }
  bool direct() const { return static_cast<bool>(m_direct); }

  SpillCounters counters() const;
  std::int64_t size_bytes() const { return m_size_bytes; }

 private:
  void open_direct();
  TransferRequest piece(TransferRequest const& rest) const;
  Transfer transfer(Direction direction, std::span<std::byte> memory,
                    std::int64_t offset_bytes) noexcept;
  IoResult note_failure(Direction direction, std::int64_t extent, int error) noexcept;

  std::filesystem::path m_directory;  // for messages: the file itself has no name
  std::int64_t m_size_bytes;
  SpillSettings m_settings;
  FileDescriptor m_file, m_direct;  // the same file; m_direct: empty where there is no direct I/O
  std::vector<std::string> m_advice;
  std::mutex m_mutex;  // of m_queue
  std::unique_ptr<TransferQueue> m_queue;
  bool m_dead = false;  // some transfer may still be under way
  std::vector<std::uint64_t> m_checksum_of;  // by extent, of its last write

  std::atomic<std::int64_t> m_written_bytes = 0, m_read_bytes = 0;
  std::atomic<std::int64_t> m_write_ns = 0, m_read_ns = 0;
  std::atomic<std::int64_t> m_failed_extent = -1;
  std::atomic<int> m_failed_errno = 0;  // 0: corrupt
  std::atomic<Direction> m_failed_direction = Direction::read;
};

}  // namespace spillway
