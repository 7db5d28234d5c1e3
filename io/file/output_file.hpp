// An OutputFile is a file to write. It follows no links, reports every error, and is on storage
// once it is closed, unless it is closed with Durable::no.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "io/file/file.hpp"

namespace spillway {

// A function of this class that fails throws Error(storage) that names the path.
class OutputFile {
 public:
  // Creates a new file. What had the name before is removed; if that is a link, what it leads to
  // stays. `mode` has the permissions, from which the umask is subtracted.
  static OutputFile create(std::filesystem::path const& path, mode_t mode = kFileMode);
  // Opens a regular file that exists, to overwrite parts of it. The file is not truncated.
  static OutputFile open(std::filesystem::path const& path);

  // Writes all bytes, at any offset. Bytes go on to storage early: at most twice 64 MiB are left
  // for `close` to wait for, so that no call waits for long.
  void write(std::int64_t offset_bytes, std::span<std::byte const> bytes);
  // Closes the file, and waits until its data is on storage unless `durable` is `no`. Throws
  // Error(storage) if this fails: network file systems may report only now that there was no room.
  // Call no function after `close`. If it is not called, the file may be incomplete.
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

// Writes `text` to a new file, in place of what had the name before. Throws Error(storage) that
// names `path`.
void write_file(std::filesystem::path const& path, std::string_view text,
                Durable durable = Durable::yes, mode_t mode = kFileMode);

}  // namespace spillway
