// A ByteSource is read from its beginning to its end, once: a file, what stands on stdin, or what a
// packed file holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace spillway {

// The name that stands for stdin.
inline constexpr char const* kStandardInput = "-";

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads the next bytes, fewer than fit only at the end. Returns how many. Throws Error that names
  // the file: bad_input if it cannot be read or has become shorter, damaged if it cannot be
  // unpacked.
  virtual std::size_t read(std::span<std::byte> to) = 0;
  // Returns how many bytes of the file have been read, packed as they are there.
  virtual std::int64_t file_bytes() const = 0;
};

// Opens a file or stdin, unpacked if its first bytes or its name say that it is packed. Throws
// Error(bad_input), which names the file, if it cannot be opened, is packed in a way that this
// build does not read, or is a table of Parquet, which is no sequence of bytes (io/parquet).
std::unique_ptr<ByteSource> open_bytes(std::filesystem::path const& path);

}  // namespace spillway
