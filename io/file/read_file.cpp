#include "io/file/read_file.hpp"

#include <fmt/core.h>

#include <new>

#include "base/cannot_give.hpp"
#include "base/error.hpp"
#include "base/error_text.hpp"
#include "io/file/seal.hpp"

namespace spillway {
namespace {

std::string zeros(std::int64_t bytes, std::filesystem::path const& path) {
  try {
    return std::string(static_cast<std::size_t>(bytes), '\0');
  } catch (std::bad_alloc const&) {
    throw cannot_give(path.string(), bytes);
  }
}

}  // namespace

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

std::string read_text(std::filesystem::path const& path, std::int64_t most_bytes) {
  return read_text(open_for_reading(path), path, most_bytes);
}

std::string read_text(FileDescriptor const& file, std::filesystem::path const& path,
                      std::int64_t most_bytes) {
  auto const bytes = size_bytes(file, path);
  if (bytes > most_bytes) {
    throw Error(Status::damaged, fmt::format("{}: has {} bytes, more than the {} that make sense",
                                             path.string(), bytes, most_bytes));
  }
  auto text = zeros(bytes, path);
  read_range(file, path, 0, std::as_writable_bytes(std::span(text)));
  return text;
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
