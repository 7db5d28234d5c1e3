// SpillStorage is what holds a SpillFile: a file in each of its directories. The files have no
// names, their space is reserved when they are made, and they are open a second time for direct
// I/O, if that works.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/file/file.hpp"
#include "io/spill/directories.hpp"
#include "io/spill/stripes.hpp"

namespace spillway {

// Opens a new file for spilled bytes. Throws Error(bad_input) if `directory` cannot be used.
FileDescriptor open_spill_file(std::string const& directory);

// A NoRoom, an Error(cannot_fit), says that a directory has less space than its spill file needs.
class NoRoom : public Error {
 public:
  explicit NoRoom(std::string const& what) : Error(Status::cannot_fit, what) {}
};

class SpillStorage {
 public:
  // Throws NoRoom, with the numbers of bytes needed and free, if there is no room for size_bytes;
  // Error: storage if the system cannot reserve them for another reason, bad_input if a directory
  // cannot be used.
  SpillStorage(Directories directories, std::int64_t size_bytes);

  static constexpr std::size_t kPageBytes = 4096;  // the unit of direct I/O, in memory and file

  struct Place {
    std::size_t drive = 0;  // the place of its directory in the list
    int file = -1;
    // A descriptor of the file that bypasses the page cache and takes whole pages only, or -1 if
    // there is none.
    int direct = -1;
    std::int64_t offset_bytes = 0;  // in the file
  };
  Place place(std::int64_t address) const;
  Stripes const& stripes() const { return m_stripes; }

  bool direct() const;  // whether all files are open for direct I/O
  Directories const& directories() const { return m_directories; }
  // Returns the directory of the file to which a descriptor leads.
  std::string const& directory_of(int descriptor) const;
  std::vector<std::string> const& advice() const { return m_advice; }

 private:
  struct Drive {
    FileDescriptor file, direct;
  };
  void open_direct(std::string const& directory, Drive& drive);

  Directories m_directories;
  Stripes m_stripes;
  std::vector<Drive> m_drives;
  std::vector<std::string> m_advice;
};

}  // namespace spillway
