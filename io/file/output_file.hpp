// A file that is written: no link is followed, no error passes, durable when it is closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "io/file/file.hpp"

namespace spillway {

// All errors are Error(storage) that name the path.
class OutputFile {
 public:
  // A new file; what had the name is removed before, a link instead of what it names. `mode`: its
  // permissions, of which the umask takes its part.
  static OutputFile create(std::filesystem::path const& path, mode_t mode = kFileMode);
  // A regular file that is there, to be written over; it keeps its length.
  static OutputFile open(std::filesystem::path const& path);

  // Complete, at any offset. Storage is kept busy meanwhile: at most twice 64 MiB are left to the
  // end, so that no call waits for long.
  void write(std::int64_t offset_bytes, std::span<std::byte const> bytes);
  // Waits until the data are on storage and closes, or throws: network file systems say only then
  // that there was no room. Nothing may follow but the end; an end without it keeps no promise.
  void close(Durable durable = Durable::yes);

  std::filesystem::path const& path() const { return m_path; }
  int descriptor() const { return m_file.get(); }

 private:
  OutputFile(FileDescriptor file, std::filesystem::path path);
  [[noreturn]] void fail(char const* what, int error) const;

  void keep_storage_busy();

  FileDescriptor m_file;
  std::filesystem::path m_path;
  std::int64_t m_not_begun_bytes = 0;
};

// Writes a new file whole. Throws as OutputFile does.
void write_file(std::filesystem::path const& path, std::string_view text,
                Durable durable = Durable::yes, mode_t mode = kFileMode);

}  // namespace spillway
