#include "base/warnings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace spillway {
namespace {

struct Kept {
  std::string line, kind;  // a kind is a line without its numbers
  std::int64_t times = 1;
};

constexpr std::size_t kMostKinds = 100;  // a long run keeps no more
std::mutex kept_mutex;
std::vector<Kept> kept_warnings;

std::string without_numbers(std::string_view line) {
  std::string kind;
  for (char const c : line) {
    bool const digit = c >= '0' && c <= '9';
    if (!digit || !kind.ends_with('#')) kind += digit ? '#' : c;
  }
  return kind;
}

}  // namespace

void keep_warning(std::string_view line) {
  auto const kind = without_numbers(line);
  std::scoped_lock const lock(kept_mutex);
  auto const known = std::ranges::find(kept_warnings, kind, &Kept::kind);
  if (known != kept_warnings.end())
    ++known->times;
  else if (kept_warnings.size() < kMostKinds)
    kept_warnings.push_back({std::string(line), kind});
}

std::vector<std::string> warnings_so_far() {
  std::scoped_lock const lock(kept_mutex);
  std::vector<std::string> lines;
  for (auto const& [line, kind, times] : kept_warnings)
    lines.push_back(times == 1 ? line : fmt::format("{} (and {} more)", line, times - 1));
  return lines;
}

}  // namespace spillway
