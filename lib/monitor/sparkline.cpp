#include "monitor/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>
#include <vector>

namespace spillway {
namespace {

constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kPlain = {"_", ".", ":", "-", "=", "+", "*", "#"};

std::vector<double> means(std::span<double const> numbers, std::size_t columns) {
  std::vector<double> result;
  auto const cells = std::min(numbers.size(), columns);
  for (std::size_t i = 0; i < cells; ++i) {
    auto const first = i * numbers.size() / cells, last = (i + 1) * numbers.size() / cells;
    auto const part = numbers.subspan(first, last - first);
    result.push_back(std::accumulate(part.begin(), part.end(), 0.0) /
                     static_cast<double>(part.size()));
  }
  return result;
}

// Returns the number that a twentieth of all exceeds.
double upper(std::vector<double> numbers) {
  auto const at = numbers.size() - 1 - numbers.size() / 20;
  std::ranges::nth_element(numbers, numbers.begin() + static_cast<std::ptrdiff_t>(at));
  return numbers[at];
}

}  // namespace

std::string sparkline(std::span<double const> numbers, std::size_t columns, bool unicode) {
  auto const cells = means(numbers, columns);
  if (cells.empty()) return "";
  auto const low = std::ranges::min(cells), high = upper(cells);
  auto const& marks = unicode ? kBlocks : kPlain;
  auto const steps = static_cast<double>(marks.size() - 1);
  std::string text;
  for (auto const cell : cells) {
    auto const height = high > low ? std::min(1.0, (cell - low) / (high - low)) : 0;
    text += marks[static_cast<std::size_t>(std::lround(steps * height))];
  }
  return text;
}

}  // namespace spillway
