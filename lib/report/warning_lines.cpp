#include "report/warning_lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>

#include "base/wrapped.hpp"
#include "plan/data/words.hpp"

namespace spillway {

std::vector<std::string> merged_warnings(std::span<std::string const> by_rank) {
  std::vector<std::string> all;
  for (auto const& text : by_rank) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (std::ranges::find(all, line) == all.end()) all.push_back(line);
  }
  return all;
}

std::string warning_lines(std::span<std::string const> warnings) {
  constexpr std::size_t most = 10;
  if (warnings.empty()) return "";
  auto const shown = warnings.first(std::min(most, warnings.size()));
  auto text = count(static_cast<std::int64_t>(warnings.size()), "warning") + ":\n";
  for (auto const& warning : shown) text += wrapped_line("  " + warning, "    ");
  if (shown.size() == warnings.size()) return text;
  return text + fmt::format("  and {} more above\n", warnings.size() - shown.size());
}

}  // namespace spillway
