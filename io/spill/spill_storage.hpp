// SpillStorage is the file of a SpillFile. It has no name, its space is reserved when it is made,
// and it is open a second time for direct I/O, if that works.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/file/file.hpp"

namespace spillway {

// Throws Error(bad_input) if no spill file can be made in `directory`.
void require_spill_place(std::filesystem::path const& directory);

// A NoRoom, an Error(cannot_fit), says that a directory has less space than its spill file needs.
class NoRoom : public Error {
 public:
  explicit NoRoom(std::string const& what) : Error(Status::cannot_fit, what) {}
};

class SpillStorage {
 public:
  // Throws NoRoom, with the numbers of bytes needed and free, if size_bytes are not free;
  // Error: storage if the system cannot reserve them for another reason, bad_input if `directory`
  // cannot be used.
  SpillStorage(std::filesystem::path const& directory, std::int64_t size_bytes);

  static constexpr std::size_t kPageBytes = 4096;  // the unit of direct I/O, in memory and file

  int file() const { return m_file.get(); }
  // Returns a descriptor of the file that bypasses the page cache and takes whole pages only, or -1
  // if there is none.
  int direct() const { return m_direct.get(); }
  std::vector<std::string> const& advice() const { return m_advice; }

 private:
  void open_direct(std::filesystem::path const& directory);

  FileDescriptor m_file, m_direct;
  std::vector<std::string> m_advice;
};

}  // namespace spillway
