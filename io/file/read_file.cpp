#include "io/file/read_file.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "io/file/seal.hpp"

namespace spillway {

void read_range(FileDescriptor const& file, std::filesystem::path const& path,
                std::int64_t offset_bytes, std::span<std::byte> to) {
  auto const got = read_fully(file.get(), to, offset_bytes);
  if (got.error != 0) {
    throw Error(Status::storage,
                fmt::format("{}: cannot be read: {}", path.string(), error_text(got.error)));
  }
  if (got.done_bytes != std::ssize(to))
    throw Error(Status::damaged, fmt::format("{}: has become shorter", path.string()));
}

std::string read_sealed_text(std::filesystem::path const& path, std::int64_t most_bytes) {
  auto const text = read_text(path, most_bytes);
  try {
    return unsealed(text);
  } catch (Error const& error) {
    throw Error(error.status(), fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace spillway
