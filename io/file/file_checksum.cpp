#include "io/file/file_checksum.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "io/file/read_file.hpp"

namespace spillway {

void add_range(StreamingChecksum& sum, FileDescriptor const& file,
               std::filesystem::path const& path, std::int64_t offset_bytes, std::int64_t bytes) {
  constexpr std::int64_t most = 1 << 16;  // small, because no plan counts the memory of this buffer
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::clamp<std::int64_t>(bytes, 0, most)));
  while (bytes > 0) {
    auto const piece = std::span(buffer).first(static_cast<std::size_t>(std::min(bytes, most)));
    read_range(file, path, offset_bytes, piece);
    sum.add(piece);
    offset_bytes += std::ssize(piece);
    bytes -= std::ssize(piece);
  }
}

}  // namespace spillway
