#include "report/last_line.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "io/file/file.hpp"

namespace spillway {

std::optional<std::int64_t> end_of_last_line(int file, std::int64_t size_bytes) {
  std::array<char, 4096> some{};
  while (size_bytes > 0) {
    auto const bytes = std::min(size_bytes, std::int64_t{some.size()});
    auto const part = std::span(some).first(static_cast<std::size_t>(bytes));
    auto const read = read_fully(file, std::as_writable_bytes(part), size_bytes - bytes);
    if (read.done_bytes < bytes) return std::nullopt;
    auto const at = std::string_view(part.data(), part.size()).rfind('\n');
    if (at != std::string_view::npos) return size_bytes - bytes + static_cast<std::int64_t>(at) + 1;
    size_bytes -= bytes;
  }
  return 0;
}

}  // namespace spillway
